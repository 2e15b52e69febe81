//! What of the changes a host would obey or run later.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::inventory::{Change, Changes, FileKind, Inventory};
use crate::protection::{Class, Protection, Repositories};

/// Something that was created or changed, and that a host would obey or run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Where.
    pub path: PathBuf,
    /// What it is.
    pub reason: Reason,
    /// Why it matters.
    pub why: &'static str,
}

/// What kind of executable configuration it is, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// A name that is protected where it exists.
    Protected,
    /// A repository that was not there.
    Repository,
    /// A symbolic link that leads out of the directory, or may.
    OutwardLink,
    /// A name of the list of what a machine executes.
    Reported,
    /// A file that can be executed and that was not there, or could not.
    Executable,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protected => "protected name",
            Self::Repository => "new repository",
            Self::OutwardLink => "link that leads out",
            Self::Reported => "name that is executed",
            Self::Executable => "executable file",
        })
    }
}

/// Looks through the changes of the directory at `top`.
pub(super) fn find(
    protection: &Protection,
    before: &Inventory,
    now: &Inventory,
    changes: &Changes,
    top: &Path,
) -> Vec<Finding> {
    let (old, new) = (Repositories::of(before), Repositories::of(now));
    let born = new.iter().filter(|path| !old.contains(path)).map(|path| Finding {
        path: path.to_owned(),
        reason: Reason::Repository,
        why: "git obeys its configuration and runs its hooks",
    });
    let judge = Judge { protection, before, now, repositories: &new, top };
    // A directory that was made says nothing; one whose mode was changed may.
    let created = changes.created.iter().filter(|one| one.kind != FileKind::Directory);
    let changed = created.chain(&changes.changed).filter(|one| !one.is_object);
    let found = changed.filter_map(|one| judge.finding(one));
    born.chain(found).collect()
}

/// What is needed to judge one change.
struct Judge<'a> {
    protection: &'a Protection,
    before: &'a Inventory,
    now: &'a Inventory,
    repositories: &'a Repositories,
    top: &'a Path,
}

impl Judge<'_> {
    /// Whether a path is to be told apart: for the gravest of its reasons.
    fn finding(&self, change: &Change) -> Option<Finding> {
        if self.is_sample(&change.path) {
            return None;
        }
        let ruling = self.repositories.ruling_of(self.protection, &change.path);
        let found = |reason, why| Some(Finding { path: change.path.clone(), reason, why });
        match ruling {
            Some((Class::Protected, why)) => found(Reason::Protected, why),
            _ if self.leads_out(&change.path) => {
                found(Reason::OutwardLink, "who follows it reads or writes elsewhere")
            }
            Some((Class::Reported, why)) if change.kind != FileKind::Directory => {
                found(Reason::Reported, why)
            }
            Some(_) => None,
            None if self.became_executable(&change.path) => {
                found(Reason::Executable, "it can be executed")
            }
            None => None,
        }
    }

    /// The samples that git puts beside hooks, and that it never runs.
    fn is_sample(&self, path: &Path) -> bool {
        let is_in_hooks = path.parent().is_some_and(|hooks| {
            hooks.ends_with("hooks")
                && hooks.parent().is_some_and(|it| self.repositories.contains(it))
        });
        is_in_hooks && path.extension().is_some_and(|extension| extension == "sample")
    }

    /// Whether a file can be executed that could not be before.
    fn became_executable(&self, path: &Path) -> bool {
        let is =
            |inventory: &Inventory| inventory.get(path).is_some_and(crate::Entry::is_executable);
        is(self.now) && !is(self.before)
    }

    /// Whether a link leads out of the directory, or may: one that goes up behind another name could
    /// go up from wherever that name leads.
    fn leads_out(&self, path: &Path) -> bool {
        let Some(target) = self.now.get(path).and_then(crate::Entry::target) else { return false };
        let (target, mut depth) = match target.strip_prefix(self.top) {
            Ok(below) => (below, 0),
            Err(_) if target.is_absolute() => return true,
            Err(_) => (target, path.components().count().saturating_sub(1)),
        };
        let mut has_gone_down = false;
        target.components().any(|part| match part {
            Component::Normal(_) => {
                has_gone_down = true;
                false
            }
            Component::ParentDir if has_gone_down || depth == 0 => true,
            Component::ParentDir => {
                depth -= 1;
                false
            }
            _ => false,
        })
    }
}
