//! What is covered in one launch: put together, outermost first, each parent pinned once.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::path::{Path, PathBuf};

use super::paths::Guarded;
use crate::plan::Guard;

/// Puts together what the caller asked for and what was found. What is within something hidden, or
/// is to be read-only within something that is, needs no cover of its own.
pub(super) fn merged(asked: &[Guarded], found: Vec<Guarded>) -> Vec<Guard> {
    let covered: HashMap<PathBuf, bool> =
        asked.iter().map(|guard| (guard.path.clone(), guard.hidden)).collect();
    let is_covered = |path: &Path, hidden: bool| {
        path.ancestors().any(|one| match covered.get(one) {
            Some(is_hidden) => *is_hidden || !hidden,
            None => false,
        })
    };
    let more = found.into_iter().filter(|guard| !is_covered(&guard.path, guard.hidden));
    let mut all: Vec<_> = asked.iter().cloned().chain(more).collect();
    all.sort_by_key(|guard| guard.path.components().count());
    let mut pinned: HashSet<CString> = HashSet::new();
    all.into_iter()
        .map(|guard| Guard {
            parents: guard.parents.into_iter().filter(|one| pinned.insert(one.clone())).collect(),
            path: guard.name,
            hidden: guard.hidden,
        })
        .collect()
}
