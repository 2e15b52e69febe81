//! One group: made with its ceilings, joined through a descriptor, removed after its end.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Place, Version};

/// The number of the next group of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A control group of one child.
#[derive(Debug)]
pub(crate) struct Group {
    directory: PathBuf,
    version: Version,
    memory: bool,
}

impl Group {
    /// Makes a group with ceilings on memory (bytes) and processes, where the place has them.
    pub(crate) fn make(
        place: &Place,
        memory: Option<u64>,
        processes: Option<u64>,
    ) -> io::Result<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let directory = place.directory.join(super::name(number));
        fs::create_dir(&directory)?;
        let group = Self { directory, version: place.version, memory: place.memory };
        if place.memory {
            group.limit_memory(memory)?;
        }
        if place.processes {
            group
                .write("pids.max", &processes.map_or("max".to_owned(), |most| most.to_string()))?;
        }
        Ok(group)
    }

    /// Sets the ceiling on memory, swap included where the kernel counts it.
    fn limit_memory(&self, memory: Option<u64>) -> io::Result<()> {
        let (limit, swap) = match self.version {
            Version::One => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
            Version::Two => ("memory.max", "memory.swap.max"),
        };
        let unlimited = if self.version == Version::One { "-1" } else { "max" };
        self.write(limit, &memory.map_or(unlimited.to_owned(), |bytes| bytes.to_string()))?;
        let (Some(bytes), true) = (memory, self.directory.join(swap).exists()) else {
            return Ok(());
        };
        // Version 1 counts memory and swap together, version 2 swap alone.
        let swap_bytes = if self.version == Version::One { bytes } else { 0 };
        self.write(swap, &swap_bytes.to_string())
    }

    /// A descriptor; whoever writes `0` to it joins the group.
    pub(crate) fn door(&self) -> io::Result<OwnedFd> {
        let file = File::options().write(true).open(self.directory.join("cgroup.procs"))?;
        Ok(file.into())
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

    /// Writes one of the group's settings.
    fn write(&self, name: &str, value: &str) -> io::Result<()> {
        fs::write(self.directory.join(name), value)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        left.push(std::mem::take(&mut self.directory));
        left.retain(|directory| is_busy(directory));
    }
}

/// Groups whose last process was still being reaped when they were let go. Nobody waits for it: they
/// are removed with the next one, or by the launcher when this process ends.
static LEFT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes a group, unless it has a process still.
fn is_busy(directory: &Path) -> bool {
    fs::remove_dir(directory).is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
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
