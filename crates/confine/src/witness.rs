//! What a view of the file system that was built ahead depends on: where the paths of its plan led.
//!
//! A bind shows a file or directory itself, not a name, and a guard covers what was there. So a view
//! is still the one that would be built now if every path leads where it led before. The process that
//! builds a view takes this shortly before it covers guarded paths; the host takes it again before the
//! view is used. What is mounted is watched from before a namespace is made that knows of it.

use std::ffi::CString;
use std::fs::File;
use std::io;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, CWD, statat};
use serde::{Deserialize, Serialize};

use crate::plan::{Plan, Root};

/// The most paths that are watched; a plan with more of them is always carried out afresh.
const MOST: usize = 1024;

/// Device and inode of each path of a plan, in the plan's order; nothing where nothing is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Witness(Vec<Option<(u64, u64)>>);

impl Witness {
    /// Looks at the paths of a plan; nothing if there is no view, or one with too many paths.
    pub(crate) fn take(plan: &Plan) -> Option<Self> {
        let root = &plan.namespaces.as_ref()?.root;
        (paths(root).count() <= MOST).then(|| Self(paths(root).map(identity).collect()))
    }
}

/// Everything of the host that a view shows or covers.
fn paths(root: &Root) -> impl Iterator<Item = &CString> {
    let binds = root.binds.iter().map(|bind| &bind.source);
    let guards = root.guards.iter().flat_map(|guard| guard.parents.iter().chain([&guard.path]));
    binds.chain(guards)
}

/// What a name leads to; of a link, the link itself.
fn identity(path: &CString) -> Option<(u64, u64)> {
    let stat = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

/// Tells whether something was mounted or unmounted since it was made.
#[derive(Debug)]
pub(crate) struct MountWatch(File);

impl MountWatch {
    /// Begins to watch.
    pub(crate) fn new() -> io::Result<Self> {
        File::open("/proc/self/mountinfo").map(Self)
    }

    /// Whether nothing changed; once it says no, it is of no more use.
    pub(crate) fn is_unchanged(&self) -> bool {
        let now = Timespec::default();
        poll(&mut [PollFd::new(&self.0, PollFlags::PRI)], Some(&now)) == Ok(0)
    }
}

/// The longest that a message with one can be.
pub(crate) const MESSAGE_BYTES: usize = 16 + MOST * 24;

#[cfg(test)]
mod tests {
    use super::{MESSAGE_BYTES, MOST, Witness};
    use crate::plan::Status;

    #[test]
    fn the_largest_fits_into_a_message() {
        let most = Witness(vec![Some((u64::MAX, u64::MAX)); MOST]);
        let bytes = postcard::to_allocvec(&Status::Ready(Some(most))).unwrap();
        assert!(bytes.len() <= MESSAGE_BYTES, "{}", bytes.len());
    }
}
