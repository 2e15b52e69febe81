//! One group: how it is made with its ceilings and joined, and what it says after the end.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Place, Version};

/// Ceilings on all processes of a group together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ceilings {
    /// Memory in bytes.
    pub(crate) memory: Option<u64>,
    /// Processes and threads.
    pub(crate) processes: Option<u64>,
    /// Processor time, in percent of one processor.
    pub(crate) cpu_share: Option<u32>,
}

/// How groups are made in one place; each child's has a name of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Blueprint {
    parent: PathBuf,
    door: String,
    settings: Vec<Setting>,
}

/// A value for one of a group's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Setting {
    file: String,
    value: String,
    /// Whether the kernel may have no such file.
    optional: bool,
}

impl Setting {
    /// A setting that every group of the kind has.
    fn new(file: &str, value: String) -> Self {
        Self { file: file.to_owned(), value, optional: false }
    }
}

impl Blueprint {
    /// A group in this place with ceilings on what the place can hold.
    pub(crate) fn new(place: &Place, ceilings: Ceilings) -> Self {
        let mut settings = Vec::new();
        if let Some(bytes) = ceilings.memory.filter(|_| place.memory) {
            settings.extend(memory(place.version, bytes));
        }
        if let Some(most) = ceilings.processes.filter(|_| place.processes) {
            settings.push(Setting::new("pids.max", most.to_string()));
        }
        if let Some(percent) = ceilings.cpu_share.filter(|_| place.cpu) {
            settings.extend(cpu(place.version, percent));
        }
        Self { parent: place.directory.clone(), door: door(place.version).to_owned(), settings }
    }

    /// The directory in which the groups are.
    pub(crate) fn parent(&self) -> &Path {
        &self.parent
    }

    /// Makes a group of this name.
    pub(crate) fn make(&self, name: &str) -> io::Result<PathBuf> {
        let directory = self.parent.join(name);
        fs::create_dir(&directory)?;
        for Setting { file, value, optional } in &self.settings {
            match write(&directory.join(file), value) {
                Err(error) if *optional && error.kind() == io::ErrorKind::NotFound => {}
                answer => answer?,
            }
        }
        Ok(directory)
    }

    /// Makes a group of this name; whoever writes `0` to the descriptor and has one thread joins it.
    pub(crate) fn open(&self, name: &str) -> io::Result<OwnedFd> {
        let door = self.make(name)?.join(&self.door);
        Ok(File::options().write(true).open(door)?.into())
    }
}

/// The file by which a process with one thread joins.
///
/// With version 1 that is the list of threads: to move a whole process, the kernel first stops every
/// fork and exit of the machine, which takes up to some ten milliseconds.
fn door(version: Version) -> &'static str {
    match version {
        Version::One => "tasks",
        Version::Two => "cgroup.procs",
    }
}

/// The ceiling on memory, swap included where the kernel counts it: version 1 counts memory and swap
/// together, version 2 swap alone.
fn memory(version: Version, bytes: u64) -> [Setting; 2] {
    let (limit, swap, swap_bytes) = match version {
        Version::One => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes),
        Version::Two => ("memory.max", "memory.swap.max", 0),
    };
    let swap = Setting { optional: true, ..Setting::new(swap, swap_bytes.to_string()) };
    [Setting::new(limit, bytes.to_string()), swap]
}

/// The length of the periods in which processor time is handed out, in microseconds.
const PERIOD: u64 = 100_000;

/// The ceiling on processor time in each period.
fn cpu(version: Version, percent: u32) -> Vec<Setting> {
    let quota = u64::from(percent) * PERIOD / 100;
    match version {
        Version::One => vec![
            Setting::new("cpu.cfs_period_us", PERIOD.to_string()),
            Setting::new("cpu.cfs_quota_us", quota.to_string()),
        ],
        Version::Two => vec![Setting::new("cpu.max", format!("{quota} {PERIOD}"))],
    }
}

/// Writes one of the kernel's files, which is never made.
fn write(file: &Path, value: &str) -> io::Result<()> {
    File::options().write(true).open(file)?.write_all(value.as_bytes())
}

/// A group of one child, made or about to be.
#[derive(Debug)]
pub(crate) struct Group {
    directory: PathBuf,
    version: Version,
    memory: bool,
}

impl Group {
    /// The group of this name in a place.
    pub(crate) fn named(place: &Place, name: &str) -> Self {
        let directory = place.directory.join(name);
        Self { directory, version: place.version, memory: place.memory }
    }

    /// Its directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether a process of the group was killed because the memory was used up.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let name = match self.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        let text = fs::read_to_string(self.directory.join(name)).unwrap_or_default();
        self.memory && killed(&text) > 0
    }
}

/// How many processes a group's statistics say were killed.
fn killed(text: &str) -> u64 {
    text.lines()
        .filter_map(|line| line.strip_prefix("oom_kill "))
        .find_map(|count| count.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::killed;

    #[test]
    fn the_count_is_read_from_both_versions() {
        assert_eq!(killed("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"), 2);
        assert_eq!(killed("low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\noom_group_kill 0\n"), 1);
        assert_eq!(killed("oom_kill_disable 0\nunder_oom 1\n"), 0);
        assert_eq!(killed(""), 0);
    }
}
