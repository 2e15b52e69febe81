//! What files look like, to be compared before and after.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Kind, mode, time and content of everything below some paths, links not followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, String>);

impl Snapshot {
    /// Looks at `paths` and all below them. What does not exist is not in it.
    pub(crate) fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut snapshot = Self::default();
        paths.into_iter().for_each(|path| snapshot.add(&path));
        snapshot
    }

    fn add(&mut self, path: &Path) {
        let Ok(data) = fs::symlink_metadata(path) else { return };
        let mut state = format!("mode {:o}", data.mode());
        if data.is_dir() {
            let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
            entries.for_each(|entry| self.add(&entry.path()));
        } else if data.is_file() {
            let content = fs::read(path).unwrap_or_default();
            let content = String::from_utf8_lossy(&content);
            state += &format!(" modified {} {content:?}", data.mtime());
        } else if data.is_symlink() {
            state += &format!(" to {:?}", fs::read_link(path).unwrap_or_default());
        }
        self.0.insert(path.to_owned(), state);
    }

    /// The paths that differ.
    pub(crate) fn differences(&self, later: &Self) -> Vec<String> {
        let all = self.0.keys().chain(later.0.keys());
        let differs = |path: &&PathBuf| self.0.get(*path) != later.0.get(*path);
        let mut paths: Vec<_> =
            all.filter(differs).map(|path| path.display().to_string()).collect();
        paths.sort();
        paths.dedup();
        paths
    }
}
