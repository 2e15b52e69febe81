//! The tracked files: paths as git lists them, sizes, and the text of those that hold text.

use std::{fs, path::Path};

use super::expected::MAX_FILE_BYTES;
use crate::{
    error::Error,
    process::{Program, root},
};

/// One tracked file.
#[derive(Debug, Clone)]
pub(super) struct File {
    /// Its path from the root, with `/`.
    pub(super) path: String,
    /// Its size in bytes.
    pub(super) len: u64,
    /// Its text; empty where it is not UTF-8, or over the size that may be tracked at all.
    pub(super) text: String,
}

impl File {
    /// What follows the last dot of its name.
    pub(super) fn ending(&self) -> &str {
        Path::new(&self.path).extension().and_then(|ending| ending.to_str()).unwrap_or_default()
    }

    /// The name without its folder.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Its lines, numbered from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }
}

/// Reads the tracked files of the workspace. One that is deleted but not yet committed is left out.
pub(super) fn read() -> Result<Vec<File>, Error> {
    let listed = Program::new("git").args(["ls-files", "-z"]).output()?;
    let files = listed.split_terminator('\0').filter_map(|path| {
        let full = root().join(path);
        let len = fs::symlink_metadata(&full).ok()?.len();
        Some((path, full, len))
    });
    files.map(|(path, full, len)| read_file(path, &full, len)).collect()
}

fn read_file(path: &str, full: &Path, len: u64) -> Result<File, Error> {
    let is_text = len <= MAX_FILE_BYTES && full.is_file();
    let bytes = if is_text {
        fs::read(full).map_err(|error| Error::failed(format!("{path}: {error}")))?
    } else {
        Vec::new()
    };
    let text = String::from_utf8(bytes).unwrap_or_default();
    Ok(File { path: path.to_owned(), len, text })
}

#[cfg(test)]
pub(super) fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), len: text.len() as u64, text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracked_files_are_read_with_their_text() {
        let files = read().unwrap();
        let manifest = files.iter().find(|file| file.path == "xtask/Cargo.toml").unwrap();
        assert!(manifest.text.contains("[package]"));
        assert_eq!(manifest.len, manifest.text.len() as u64);
        assert_eq!((manifest.name(), manifest.ending()), ("Cargo.toml", "toml"));
        assert_eq!(file("a/.ci", "x\ny").lines().last(), Some((2, "y")));
        assert_eq!(file("a.b/run", "").ending(), "");
    }
}
