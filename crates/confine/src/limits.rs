//! Ceilings on what a child may use.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Ceilings of one child, all its processes together where the mechanism can count them together.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Memory in bytes.
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// Processor time of each process; whole seconds, rounded up.
    pub cpu_time: Option<Duration>,
    /// Processor time of all processes together, in percent of one processor: 150 is one and a half.
    /// Held by a control group alone ([`Mechanism::CpuGroup`](crate::Mechanism::CpuGroup)); who uses
    /// it up waits.
    pub cpu_share: Option<u32>,
    /// The size of a file that is written, in bytes.
    pub file_size: Option<u64>,
    /// Open descriptors of each process.
    pub open_files: Option<u64>,
    /// The size of the private `/tmp`, in bytes.
    pub tmp_size: u64,
    /// Time from the start to the end.
    pub wall_clock: Option<Duration>,
}

impl Default for Limits {
    /// 2 GiB of memory, 256 processes, files of 1 GiB, 1024 open descriptors, a `/tmp` of 256 MiB;
    /// no limit on time.
    fn default() -> Self {
        Self {
            memory: Some(2 << 30),
            processes: Some(256),
            cpu_time: None,
            cpu_share: None,
            file_size: Some(1 << 30),
            open_files: Some(1024),
            tmp_size: 256 << 20,
            wall_clock: None,
        }
    }
}

/// A limit that ended a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::memory`]
    Memory,
    /// [`Limits::cpu_time`]
    CpuTime,
    /// [`Limits::file_size`]
    FileSize,
    /// [`Limits::wall_clock`]
    WallClock,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::CpuTime => "cpu_time",
            Self::FileSize => "file_size",
            Self::WallClock => "wall_clock",
        })
    }
}
