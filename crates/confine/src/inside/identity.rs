//! User and group ids in a new user namespace: one of each, the same inside as outside.

use std::fs;
use std::io;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use crate::plan::Identity;

/// Maps the user and the group to themselves; every other id is nobody's.
///
/// The kernel lets an ordinary user map a group only after `setgroups` was given up.
///
/// A process that can't be inspected does not own its files in `/proc`, so this one can be until
/// the maps are written.
pub(super) fn map(Identity { user, group }: Identity) -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::Dumpable)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}
