//! Attempts to use more than the limits allow. Each stops at `cap` (bytes) or a count of its own.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::attempt::{Attempt, Given, Stop, Tried, denied};
use crate::sys::{call, fork, map, owned, wait};

/// The tables of this group.
pub(crate) const TABLES: &[&[Attempt]] = &[&[
    Attempt::new("limits.processes", "has 50 processes at once", processes),
    Attempt::new("limits.threads", "has 50 threads at once", threads),
    Attempt::new("limits.memory", "fills memory up to the cap", memory),
    Attempt::new("limits.memory-split", "fills it in several processes", memory_split),
    Attempt::new("limits.memory-file", "fills an anonymous file up to the cap", memory_file),
    Attempt::new("limits.shared-memory", "fills /dev/shm up to the cap", shared_memory),
    Attempt::new("limits.temporary", "fills /tmp up to the cap", temporary),
    Attempt::new("limits.file-size", "makes a file as large as the cap", file_size),
    Attempt::new("limits.open-files", "has 600 files open", open_files),
    Attempt::new("limits.cpu", "computes for three seconds", cpu),
    Attempt::new("limits.wall-clock", "sleeps for three seconds", wall_clock),
    Attempt::new("limits.core", "may leave a core file", core),
]];

/// Processes and threads at once; small enough for every machine.
const CROWD: usize = 50;
/// Memory is written page by page.
const PAGE: usize = 4096;
const CHUNK: usize = 1 << 20;

fn cap(given: &Given) -> usize {
    given.number_or("cap", 400 << 20)
}

fn processes(_: &Given) -> Tried {
    let sleep = || {
        std::thread::sleep(Duration::from_millis(500));
        0
    };
    let mut children = Vec::new();
    let failure = loop {
        match fork(sleep) {
            Ok(child) => children.push(child),
            Err(error) => break Some(error),
        }
        if children.len() == CROWD {
            break None;
        }
    };
    for child in children {
        wait(child)?;
    }
    failure.map_or_else(|| Ok(format!("{CROWD} processes")), |error| Err(error.into()))
}

fn threads(_: &Given) -> Tried {
    let sleep = || std::thread::sleep(Duration::from_millis(500));
    let start = |_| std::thread::Builder::new().stack_size(64 << 10).spawn(sleep);
    let threads: Result<Vec<_>, _> = (0..CROWD).map(start).collect();
    for thread in threads? {
        thread.join().map_err(|_| denied("a thread panicked"))?;
    }
    Ok(format!("{CROWD} threads"))
}

/// Maps and writes `bytes` of memory.
fn fill(bytes: usize) -> Result<(), Stop> {
    for _ in 0..bytes / CHUNK {
        map(CHUNK, None)?.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    }
    Ok(())
}

fn memory(given: &Given) -> Tried {
    fill(cap(given))?;
    Ok(format!("{} bytes", cap(given)))
}

fn memory_split(given: &Given) -> Tried {
    const PARTS: usize = 8;
    let share = cap(given) / PARTS;
    let part = || {
        let filled = fill(share).is_ok();
        std::thread::sleep(Duration::from_millis(800));
        i32::from(!filled)
    };
    let children: Result<Vec<_>, _> = (0..PARTS).map(|_| fork(part)).collect();
    for child in children? {
        if wait(child)? != 0 {
            return Err(denied("a part was refused its memory"));
        }
    }
    Ok(format!("{} bytes in {PARTS} processes", cap(given)))
}

/// Writes zeros to a file up to the cap, and gives how much came in.
fn write_up(file: &mut File, given: &Given) -> Result<usize, Stop> {
    let chunk = vec![1; CHUNK];
    let mut written = 0;
    while written < cap(given) {
        file.write_all(&chunk)?;
        written += CHUNK;
    }
    Ok(written)
}

fn memory_file(given: &Given) -> Tried {
    let mut file = File::from(owned(call!(libc::SYS_memfd_create, c"probe", 0))?);
    Ok(format!("{} bytes", write_up(&mut file, given)?))
}

/// Fills a new file in `directory` and removes it.
fn fill_file(directory: &Path, given: &Given) -> Tried {
    let path = directory.join(format!("probe-fill-{}", std::process::id()));
    // Without a name from the start, it goes away with this process, however that ends.
    let mut file = File::create_new(&path)?;
    fs::remove_file(&path)?;
    Ok(format!("{} bytes", write_up(&mut file, given)?))
}

fn shared_memory(given: &Given) -> Tried {
    fill_file(Path::new("/dev/shm"), given)
}

fn temporary(given: &Given) -> Tried {
    fill_file(Path::new("/tmp"), given)
}

fn file_size(given: &Given) -> Tried {
    fill_file(&given.path("work", "")?, given)
}

fn open_files(_: &Given) -> Tried {
    let limit = crate::sys::words(&[4096, 4096]);
    // Raised where that is allowed, so that the soft limit of the machine is not what is found.
    let _raised = call!(libc::SYS_prlimit64, 0, libc::RLIMIT_NOFILE, &limit, 0);
    let files: Result<Vec<_>, _> = (0..600).map(|_| File::open("/dev/null")).collect();
    Ok(format!("{} files", files?.len()))
}

/// The processor time that this process has used.
fn used() -> Result<Duration, Stop> {
    let mut time = [0; 16];
    call!(libc::SYS_clock_gettime, libc::CLOCK_PROCESS_CPUTIME_ID, &mut time[..])?;
    let (mut seconds, mut nanos) = ([0; 8], [0; 8]);
    seconds.copy_from_slice(&time[..8]);
    nanos.copy_from_slice(&time[8..]);
    let nanos = Duration::from_nanos(u64::from_ne_bytes(nanos));
    Ok(Duration::from_secs(u64::from_ne_bytes(seconds)) + nanos)
}

fn cpu(_: &Given) -> Tried {
    let end = Instant::now() + Duration::from_secs(20);
    while used()? < Duration::from_secs(3) {
        if Instant::now() > end {
            return Err(Stop::Untried("the machine is too busy".to_owned()));
        }
    }
    Ok("three seconds".to_owned())
}

fn wall_clock(_: &Given) -> Tried {
    std::thread::sleep(Duration::from_secs(3));
    Ok("slept".to_owned())
}

fn core(_: &Given) -> Tried {
    let mut limit = crate::sys::words(&[0, 0]);
    let kind = libc::RLIMIT_CORE;
    call!(libc::SYS_prlimit64, 0, kind, 0, &mut limit[..])?;
    // The hard limit: it can be raised up to that.
    if limit[8..] == [0; 8] { Err(denied("the limit is zero")) } else { Ok("it may".to_owned()) }
}
