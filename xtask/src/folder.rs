//! Folders that chores look into.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::error::Error;

/// What a folder holds, sorted.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| Error::failed(format!("{}: {error}", folder.display()));
    let mut entries = fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| Ok(entry.map_err(failed)?.path()))
        .collect::<Result<Vec<_>, Error>>()?;
    entries.sort();
    Ok(entries)
}

/// The names, without their ending, of the Rust files of a folder; none where it does not exist.
pub(crate) fn rust_files(folder: &Path) -> Result<Vec<String>, Error> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    let files = entries(folder)?.into_iter().filter(is_rust);
    Ok(files.filter_map(|file| Some(file.file_stem()?.to_string_lossy().into_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rust_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["two.rs", "one.rs", "notes.md"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(rust_files(folder.path()).unwrap(), ["one", "two"]);
        assert!(rust_files(&folder.path().join("none")).unwrap().is_empty());
        assert!(entries(&folder.path().join("none")).is_err());
    }
}
