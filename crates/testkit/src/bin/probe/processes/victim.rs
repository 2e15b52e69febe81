//! Seeing, reading, tracing, signalling and slowing a process of the host.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::parent_id;

use crate::attempt::{Attempt, Given, Stop, Tried, denied};
use crate::files::any;
use crate::sys::{address, call, halves, owned, words};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("processes.see", "finds the victim in /proc", see),
    Attempt::new("processes.cmdline", "reads the victim's command line", cmdline),
    Attempt::new("processes.probe-signal", "learns that the victim exists", exists),
    Attempt::new("processes.signal", "ends the victim", signal),
    Attempt::new("processes.thread-signal", "ends it by tgkill", thread_signal),
    Attempt::new("processes.queue-signal", "ends it by rt_sigqueueinfo", queue_signal),
    Attempt::new("processes.fd-signal", "ends it by a pidfd", fd_signal),
    Attempt::new("processes.owner-signal", "has the kernel signal it, as a file's owner", owner)
        .judged_by_world(),
    Attempt::new("processes.signal-all", "may signal anyone at all, by signal 0", signal_all),
    Attempt::new("processes.trace", "traces the victim", trace),
    Attempt::new("processes.trace-parent", "traces the parent", trace_parent),
    Attempt::new("processes.read-memory", "reads the victim's memory", read_memory),
    Attempt::new("processes.write-memory", "writes the victim's memory", write_memory),
    Attempt::new("processes.memory-file", "reads it by /proc/VICTIM/mem", memory_file),
    Attempt::new("processes.maps", "reads the victim's memory map", maps),
    Attempt::new("processes.pidfd", "opens a pidfd of the victim", pidfd),
    Attempt::new("processes.take-descriptor", "takes a descriptor of the victim", take),
    Attempt::new("processes.compare", "compares descriptors by kcmp", compare),
    Attempt::new("processes.renice", "makes the victim slower", renice),
    Attempt::new("processes.affinity", "pins the victim", affinity),
    Attempt::new("processes.scheduler", "makes the victim a batch process", scheduler),
    Attempt::new("processes.io-priority", "makes the victim's files slower", io_priority),
    Attempt::new("processes.limits", "reads and sets the victim's limits", limits),
    Attempt::new("processes.oom-score", "offers the victim to the OOM killer", oom_score),
    Attempt::new("processes.advise", "pages out the victim's memory", advise),
    Attempt::new("processes.robust-list", "reads the victim's lock list", robust_list),
    Attempt::new("processes.faster", "gives itself a better priority", faster).root(),
    Attempt::new("processes.real-time", "gives itself a real-time priority", real_time).root(),
];

fn pid(given: &Given) -> Result<i32, Stop> {
    given.number("victim")
}

fn file(given: &Given, name: &str) -> Result<String, Stop> {
    Ok(format!("/proc/{}/{name}", pid(given)?))
}

fn done(what: &str) -> Tried {
    Ok(what.to_owned())
}

fn see(given: &Given) -> Tried {
    let name = fs::read_to_string(file(given, "comm")?)?;
    if name.trim() == "probe" { done("seen") } else { Err(denied("another process")) }
}

fn cmdline(given: &Given) -> Tried {
    let text = fs::read_to_string(file(given, "cmdline")?)?.replace('\0', " ");
    if text.contains("--victim") { Ok(text) } else { Err(denied("another process")) }
}

fn exists(given: &Given) -> Tried {
    call!(libc::SYS_kill, pid(given)?, 0)?;
    done("it exists")
}

fn signal(given: &Given) -> Tried {
    call!(libc::SYS_kill, pid(given)?, libc::SIGTERM)?;
    done("sent")
}

fn thread_signal(given: &Given) -> Tried {
    let pid = pid(given)?;
    call!(libc::SYS_tgkill, pid, pid, libc::SIGTERM)?;
    done("sent")
}

fn queue_signal(given: &Given) -> Tried {
    // `struct siginfo` with the code SI_QUEUE.
    let mut info = halves(&[libc::SIGTERM.cast_unsigned(), 0, (-1i32).cast_unsigned()]);
    info.resize(128, 0);
    call!(libc::SYS_rt_sigqueueinfo, pid(given)?, libc::SIGTERM, &info)?;
    done("sent")
}

fn open_pidfd(given: &Given) -> Result<OwnedFd, Stop> {
    Ok(owned(call!(libc::SYS_pidfd_open, pid(given)?, 0))?)
}

fn fd_signal(given: &Given) -> Tried {
    let fd = open_pidfd(given)?;
    call!(libc::SYS_pidfd_send_signal, &fd, libc::SIGTERM, 0, 0)?;
    done("sent")
}

/// The command that chooses the signal; it has no name in libc.
const F_SETSIG: i32 = 10;

/// Makes the victim the owner of a pipe whose events arrive as SIGTERM.
fn owner(given: &Given) -> Tried {
    let (reader, writer) = std::io::pipe()?;
    let fd = reader.as_raw_fd();
    call!(libc::SYS_fcntl, fd, libc::F_SETOWN, pid(given)?)?;
    call!(libc::SYS_fcntl, fd, F_SETSIG, libc::SIGTERM)?;
    call!(libc::SYS_fcntl, fd, libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK)?;
    call!(libc::SYS_write, writer.as_raw_fd(), &b"x"[..], 1)?;
    done("the kernel was asked to signal it")
}

/// Tries every number, as `kill(-1)` would: that call itself succeeds where all are refused.
fn signal_all(_: &Given) -> Tried {
    const NUMBERS: u32 = 1 << 16;
    let own = [std::process::id(), parent_id()];
    let others = (2..NUMBERS).filter(|number| !own.contains(number));
    any(others.map(|number| {
        call!(libc::SYS_kill, number, 0)?;
        Ok(format!("may signal {number}"))
    }))
}

/// Attaches without stopping; the end of this process detaches.
fn seize(pid: i32) -> Tried {
    call!(libc::SYS_ptrace, libc::PTRACE_SEIZE, pid, 0, 0)?;
    done("attached")
}

fn trace(given: &Given) -> Tried {
    seize(pid(given)?)
}

fn trace_parent(_: &Given) -> Tried {
    match i32::try_from(parent_id()).unwrap_or(0) {
        0 => Err(denied("the parent is outside and has no number here")),
        parent => seize(parent),
    }
}

/// The arguments of process_vm_readv and writev: the victim's secret, and our copy.
fn move_memory(call: libc::c_long, given: &Given, ours: &mut [u8]) -> Tried {
    let local = words(&[address(ours), 16]);
    let remote = words(&[given.number("address")?, 16]);
    call!(call, pid(given)?, &local, 1, &remote, 1, 0)?;
    Ok(String::from_utf8_lossy(ours).into_owned())
}

fn read_memory(given: &Given) -> Tried {
    move_memory(libc::SYS_process_vm_readv, given, &mut [0; 16])
}

fn write_memory(given: &Given) -> Tried {
    move_memory(libc::SYS_process_vm_writev, given, &mut b"overwritten here".to_owned())
}

fn memory_file(given: &Given) -> Tried {
    let mut bytes = [0; 16];
    File::open(file(given, "mem")?)?.read_exact_at(&mut bytes, given.number("address")?)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn maps(given: &Given) -> Tried {
    let mut byte = [0];
    match File::open(file(given, "maps")?)?.read(&mut byte)? {
        0 => Err(denied("empty")),
        _ => done("read"),
    }
}

fn pidfd(given: &Given) -> Tried {
    open_pidfd(given)?;
    done("opened")
}

fn take(given: &Given) -> Tried {
    let fd = open_pidfd(given)?;
    owned(call!(libc::SYS_pidfd_getfd, &fd, 0, 0))?;
    done("taken")
}

fn compare(given: &Given) -> Tried {
    let ours = std::process::id();
    // Type 0 compares descriptors: 0 of the victim with 0 of ours.
    call!(libc::SYS_kcmp, pid(given)?, ours, 0, 0, 0)?;
    done("compared")
}

fn renice(given: &Given) -> Tried {
    call!(libc::SYS_setpriority, libc::PRIO_PROCESS, pid(given)?, 5)?;
    done("slower")
}

fn affinity(given: &Given) -> Tried {
    call!(libc::SYS_sched_setaffinity, pid(given)?, 8, &words(&[1]))?;
    done("pinned")
}

fn scheduler(given: &Given) -> Tried {
    call!(libc::SYS_sched_setscheduler, pid(given)?, libc::SCHED_BATCH, &halves(&[0]))?;
    done("changed")
}

fn io_priority(given: &Given) -> Tried {
    // Who: a process; class 2 (best effort), level 7.
    call!(libc::SYS_ioprio_set, 1, pid(given)?, 2 << 13 | 7)?;
    done("slower")
}

fn limits(given: &Given) -> Tried {
    let mut present = words(&[0, 0]);
    let kind = libc::RLIMIT_CORE;
    call!(libc::SYS_prlimit64, pid(given)?, kind, 0, &mut present[..])?;
    call!(libc::SYS_prlimit64, pid(given)?, kind, &present, 0)?;
    done("read, and set as they were")
}

fn oom_score(given: &Given) -> Tried {
    fs::write(file(given, "oom_score_adj")?, "900")?;
    done("offered")
}

fn advise(given: &Given) -> Tried {
    let fd = open_pidfd(given)?;
    let page = given.number::<u64>("address")? & !4095;
    let range = words(&[page, 4096]);
    call!(libc::SYS_process_madvise, &fd, &range, 1, libc::MADV_PAGEOUT, 0)?;
    done("paged out")
}

fn robust_list(given: &Given) -> Tried {
    let (mut head, mut length) = (words(&[0]), words(&[0]));
    call!(libc::SYS_get_robust_list, pid(given)?, &mut head[..], &mut length[..])?;
    done("read")
}

fn faster(_: &Given) -> Tried {
    call!(libc::SYS_setpriority, libc::PRIO_PROCESS, 0, -5)?;
    done("faster")
}

fn real_time(_: &Given) -> Tried {
    call!(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &halves(&[1]))?;
    call!(libc::SYS_sched_setscheduler, 0, libc::SCHED_OTHER, &halves(&[0]))?;
    done("was real-time for a moment")
}
