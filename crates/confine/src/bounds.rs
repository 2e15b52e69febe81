//! How far a look at a directory goes.

use std::time::Duration;

/// How far a walk goes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// The most files and directories.
    pub entries: usize,
    /// How many names a path may have.
    pub depth: usize,
    /// The most time. A single question to a file system that hangs is not cut short.
    pub time: Duration,
}

impl Default for Bounds {
    /// 100,000 files, 64 names, one second.
    fn default() -> Self {
        Self { entries: 100_000, depth: 64, time: Duration::from_secs(1) }
    }
}
