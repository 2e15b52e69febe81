//! Control groups that are to be removed, and are tried again until they are empty.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::Duration;

use crate::cgroup;

/// Control groups whose last process may still be on its way out.
pub(super) struct Leftovers {
    groups: Vec<PathBuf>,
    patience: Duration,
}

impl Leftovers {
    /// How long to wait at first, and at most, before a group is tried again.
    const PATIENCE: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));

    /// How many are many.
    const MANY: usize = 32;

    /// None.
    pub(super) fn new() -> Self {
        Self { groups: Vec::new(), patience: Self::PATIENCE.0 }
    }

    /// One more. Where there are many, nobody waits for a quiet moment.
    pub(super) fn add(&mut self, group: PathBuf) {
        self.groups.push(group);
        if self.groups.len() >= Self::MANY {
            self.remove();
        }
        self.patience = Self::PATIENCE.0;
    }

    /// How long the launcher may wait for a request.
    pub(super) fn pause(&self) -> Option<Duration> {
        (!self.groups.is_empty()).then_some(self.patience)
    }

    /// Removes those that are empty.
    pub(super) fn remove(&mut self) {
        let is_busy = |error: io::Error| error.kind() == ErrorKind::ResourceBusy;
        self.groups.retain(|group| cgroup::remove(group).is_err_and(is_busy));
        self.patience = (self.patience * 2).min(Self::PATIENCE.1);
    }
}
