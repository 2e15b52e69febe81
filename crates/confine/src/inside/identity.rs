//! User and group ids in a new user namespace: one of each, the same inside as outside.

use std::fs;
use std::io;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// Maps the user and the group to themselves; every other id is nobody's.
///
/// The kernel lets an ordinary user map a group only after `setgroups` was given up.
///
/// The files belong to root for a process that can't be inspected, as the launcher is, so for this
/// moment it can. It is a copy of the launcher that has seen nothing but its job.
pub(super) fn map(user: u32, group: u32) -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::Dumpable)?;
    let mapped = write_maps(user, group);
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    mapped
}

fn write_maps(user: u32, group: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}
