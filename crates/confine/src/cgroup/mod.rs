//! Control groups: ceilings on all processes of a child together.
//!
//! Each child gets groups of its own below the host's: one where version 2 is mounted and may be
//! divided, one for each controller with version 1. The launcher makes them, the child's first
//! process joins them, and the launcher removes them after its end. What a host that was killed left behind is
//! removed by its launcher, and by the next host otherwise: a group's name has the host's process
//! number and the process-id namespace in which that number means something, and only an empty group
//! can be removed. Groups of hosts in other namespaces are left alone: whether those live can't be
//! seen from here.
//!
//! Source: the kernel's `admin-guide/cgroup-v2.rst` and `admin-guide/cgroup-v1`.

mod delegated;
mod group;
mod places;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::geteuid;

use self::delegated::Asker;
pub(crate) use group::{Blueprint, Ceilings, Group};

/// What the names of groups begin with.
const PREFIX: &str = "confine-";

/// The number of the next child of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A version of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// A directory in which groups can be made, and what they can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) version: Version,
    pub(crate) directory: PathBuf,
    pub(crate) memory: bool,
    pub(crate) processes: bool,
    pub(crate) cpu: bool,
}

impl Place {
    /// Whether there is anything that it can hold.
    pub(crate) fn holds_something(&self) -> bool {
        self.memory || self.processes || self.cpu
    }
}

/// Where this process can make groups, found by making one; otherwise why not.
///
/// It may move this process into a group of its own, so it comes before a launcher is started. What
/// `keep_clear` is given is a directory in which groups are made from then on.
pub(crate) fn usable(
    keep_clear: impl Fn(&Path) -> io::Result<()>,
) -> io::Result<Result<Vec<Place>, String>> {
    let (candidates, undivided) = match places::candidates(&asker()) {
        Ok(found) => found,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let mut why = undivided.unwrap_or_else(|| NOTHING_MOUNTED.to_owned());
    let mut usable = Vec::new();
    for place in candidates {
        keep_clear(&place.directory)?;
        remove_abandoned(&place.directory);
        let tried = Blueprint::new(&place, Ceilings::default()).make(&fresh_name());
        match tried.and_then(fs::remove_dir) {
            Ok(()) => usable.push(place),
            Err(error) => why = format!("{}: {error}", place.directory.display()),
        }
    }
    Ok(if usable.is_empty() { Err(why) } else { Ok(usable) })
}

/// A name for the groups of one more child of this process.
pub(crate) fn fresh_name() -> String {
    name(NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Removes a group. One with a process in it stays, which is an error.
pub(crate) fn remove(directory: &Path) -> io::Result<()> {
    fs::remove_dir(directory)
}

/// Removes the groups that a host's children had in these directories, once those are gone.
pub(crate) fn remove_all_of(host: u32, directories: &BTreeSet<PathBuf>) {
    for (path, _) in directories.iter().flat_map(|one| groups_in(one)).filter(|it| it.1 == host) {
        // A group that is not empty is not this host's any more.
        let _ = fs::remove_dir(path);
    }
}

/// This process, as one that asks for a place.
fn asker() -> Asker {
    let process = std::process::id();
    let name = format!("{PREFIX}{process}-{}-host", namespace());
    Asker { user: geteuid().as_raw(), process, name }
}

/// Said where nothing can hold anything.
const NOTHING_MOUNTED: &str = "no control group with a memory, pids or cpu controller is mounted";

/// Removes the groups of hosts that are gone.
fn remove_abandoned(directory: &Path) {
    for (path, owner) in groups_in(directory) {
        if !Path::new("/proc").join(owner.to_string()).exists() {
            let _ = fs::remove_dir(path);
        }
    }
}

/// The name of a group of this process.
fn name(number: u64) -> String {
    format!("{PREFIX}{}-{}-{number}", std::process::id(), namespace())
}

/// The process that made a group of this name, if its number means something here.
fn owner(name: &str) -> Option<u32> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-');
    let (owner, made_in) = (parts.next()?, parts.next()?);
    (made_in == namespace().to_string()).then(|| owner.parse().ok()).flatten()
}

/// The number of this process's process-id namespace; 0 where there is no `/proc` to ask.
fn namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino())
}

/// The groups in a directory that were made in this process-id namespace, with the process that made
/// each.
fn groups_in(directory: &Path) -> Vec<(PathBuf, u32)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), owner(entry.file_name().to_str()?)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_only_known_in_the_namespace_of_its_number() {
        assert_eq!(owner(&name(7)), Some(std::process::id()));
        let elsewhere = namespace() + 1;
        assert_eq!(owner(&format!("confine-1-{elsewhere}-0")), None);
        for other in ["confine-1-0", "confine-x-1-0", "other", "confine-"] {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
