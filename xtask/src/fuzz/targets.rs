//! The fuzz targets of the workspace, found by their files.

use std::path::{Path, PathBuf};

use crate::{
    error::Error,
    folder::{entries, rust_files},
    process::root,
};

/// One fuzz target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// Its name: of its file, and of its binary.
    pub(super) name: String,
    /// The `fuzz` folder of its crate.
    pub(super) folder: PathBuf,
}

/// Every target, sorted by name.
pub(super) fn find() -> Result<Vec<Target>, Error> {
    find_below(&root().join("crates"))
}

fn find_below(crates: &Path) -> Result<Vec<Target>, Error> {
    let mut targets = Vec::new();
    for folder in entries(crates)? {
        let folder = folder.join("fuzz");
        let names = rust_files(&folder.join("fuzz_targets"))?;
        targets.extend(names.into_iter().map(|name| Target { name, folder: folder.clone() }));
    }
    targets.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn targets_are_found_by_their_files() {
        let crates = tempfile::tempdir().unwrap();
        let folder = crates.path().join("a/fuzz/fuzz_targets");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(crates.path().join("b/src")).unwrap();
        for name in ["two.rs", "one.rs", "notes.md"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let found = find_below(crates.path()).unwrap();
        let names: Vec<_> = found.iter().map(|target| target.name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        assert!(found[0].folder.ends_with("a/fuzz"));
    }

    #[test]
    fn this_workspace_has_its_targets() {
        let found = find().unwrap();
        for name in [
            "explain_schema",
            "extract_document",
            "load_definitions",
            "parse_call",
            "stdio_lines",
            "url_policy",
        ] {
            assert!(found.iter().any(|target| target.name == name), "{name}");
        }
    }
}
