//! What a view of the file system that was built ahead depends on: where the paths of its plan led.
//!
//! A bind shows a file or directory itself, not a name, and a guard covers what was there. So a view
//! is still the one that would be built now if every path leads where it led before. The process that
//! builds a view takes this shortly before it covers guarded paths; the host takes it again before the
//! view is used. What is mounted is watched from before a namespace is made that knows of it.
//!
//! A cover goes with the name that it is on: one that was removed and made again needs another, also
//! where it got the number of the old one. So the time at which a file was made counts, and where the
//! file system does not know it, the time of its last change.

use std::ffi::CString;
use std::fs::File;
use std::io;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use serde::{Deserialize, Serialize};

use crate::plan::{Plan, Root};

/// The most paths that are watched; a plan with more of them is always carried out afresh.
const MOST: usize = 512;

/// What each path of a plan leads to, in the plan's order; nothing where nothing is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Witness(Vec<Option<Identity>>);

/// A file: its device, its inode, and when it was made.
type Identity = (u32, u32, u64, i64, u32);

impl Witness {
    /// Looks at the paths of a plan; nothing if there is no view, or one with too many paths.
    pub(crate) fn take(plan: &Plan) -> Option<Self> {
        let root = &plan.namespaces.as_ref().filter(|_| Self::is_possible(plan))?.root;
        Some(Self(paths(root).map(identity).collect()))
    }

    /// Whether there is a view, and few enough paths.
    pub(crate) fn is_possible(plan: &Plan) -> bool {
        // What `bwrap` makes is never built ahead.
        let own = plan.namespaces.as_ref().filter(|it| it.bubblewrap.is_none());
        own.is_some_and(|it| paths(&it.root).count() <= MOST)
    }
}

/// Everything of the host that a view shows or covers.
fn paths(root: &Root) -> impl Iterator<Item = &CString> {
    let binds = root.binds.iter().map(|bind| &bind.source);
    let guards = root.guards.iter().flat_map(|guard| guard.parents.iter().chain([&guard.path]));
    binds.chain(guards)
}

/// What a name leads to; of a link, the link itself.
fn identity(path: &CString) -> Option<Identity> {
    let asked = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let stat = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, asked).ok()?;
    let knows_birth = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
    let time = if knows_birth { stat.stx_btime } else { stat.stx_ctime };
    Some((stat.stx_dev_major, stat.stx_dev_minor, stat.stx_ino, time.tv_sec, time.tv_nsec))
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
pub(crate) const MESSAGE_BYTES: usize = 16 + MOST * 40;

#[cfg(test)]
mod tests {
    use super::{MESSAGE_BYTES, MOST, Witness};
    use crate::plan::Status;

    #[test]
    fn the_largest_fits_into_a_message() {
        let most = Witness(vec![Some((u32::MAX, u32::MAX, u64::MAX, i64::MIN, u32::MAX)); MOST]);
        let bytes = postcard::to_allocvec(&Status::Ready(Some(most))).unwrap();
        assert!(bytes.len() <= MESSAGE_BYTES, "{}", bytes.len());
    }
}
