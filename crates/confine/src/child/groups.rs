//! The control groups of a child, removed after it.

use crate::cgroup::{self, Group, Place};
use crate::launcher;

/// The groups of one child. Its first process makes them; when this is dropped the launcher removes
/// them, as soon as that process is gone.
#[derive(Debug)]
pub(super) struct Groups(Vec<Group>);

impl Groups {
    /// None.
    pub(super) fn none() -> Self {
        Self(Vec::new())
    }

    /// The groups of this name, one in each place.
    pub(super) fn named(places: &[Place], name: &str) -> Self {
        Self(places.iter().map(|place| Group::named(place, name)).collect())
    }

    /// Whether a process was killed because the memory of all was used up.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        self.0.iter().any(Group::ran_out_of_memory)
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for group in self.0.drain(..) {
            if !launcher::remove_group(group.directory()) {
                // Without a launcher nothing is left in it; if something is, the next host sees to it.
                let _ = cgroup::remove(group.directory());
            }
        }
    }
}
