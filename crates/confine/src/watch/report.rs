//! A change report: what was created, changed and deleted, and what of it a host would obey.

use std::path::{Path, PathBuf};

use super::findings::{Finding, find};
use super::{ChangeSummary, Place};
use crate::inventory::{Changes, Inventory};
use crate::{Change, Protection};

/// What became of writable directories. Paths are relative to the working directory, or absolute
/// where they are not in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeReport {
    /// Every path that differs.
    pub changes: Changes,
    /// Those that were created or changed and that a host would obey or run; the gravest first.
    pub executable_configuration: Vec<Finding>,
}

impl ChangeReport {
    /// A report in which nothing differs.
    pub(super) fn nothing() -> Self {
        let mut report = Self::default();
        report.changes.complete = true;
        report
    }

    /// Whether nothing is known to differ.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The same, each list cut to at most `most` entries, with the number of those left out.
    #[must_use]
    pub fn summary(&self, most: usize) -> ChangeSummary {
        ChangeSummary::of(self, most)
    }

    /// Adds what became of one directory.
    pub(super) fn add(
        &mut self,
        place: &Place,
        protection: &Protection,
        before: &Inventory,
        now: &Inventory,
    ) {
        let changes = now.changes_since(before);
        let findings = find(protection, before, now, &changes, &place.path);
        let renamed = findings.into_iter().map(|mut one| {
            one.path = named(&place.shown, &one.path);
            one
        });
        self.executable_configuration.extend(renamed);
        let all = &mut self.changes;
        all.complete &= changes.complete;
        for (list, more) in [
            (&mut all.created, changes.created),
            (&mut all.changed, changes.changed),
            (&mut all.deleted, changes.deleted),
        ] {
            list.extend(
                more.into_iter().map(|one| Change { path: named(&place.shown, &one.path), ..one }),
            );
        }
    }

    /// Puts the gravest findings first.
    pub(super) fn sort(&mut self) {
        let rank = |one: &Finding| (one.reason, one.path.clone());
        self.executable_configuration.sort_by_cached_key(rank);
    }
}

/// How a path is named in a report.
fn named(shown: &Path, path: &Path) -> PathBuf {
    match (shown.as_os_str().is_empty(), path.as_os_str().is_empty()) {
        (true, true) => PathBuf::from("."),
        (true, false) => path.to_owned(),
        (false, true) => shown.to_owned(),
        (false, false) => shown.join(path),
    }
}
