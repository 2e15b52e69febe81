//! Processes that should not live on after the attempt has ended.
//!
//! Each starts a process that writes `work/survived` after `survive_ms`; the suite looks for that
//! file later. All of them end by themselves.

use std::fs;
use std::time::Duration;

use libc::c_int;

use crate::attempt::{Attempt, Given, Tried};
use crate::files::MARK;
use crate::sys::{call, exit_now, fork, ignore_signal, wait};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("processes.daemon", "leaves a daemon with a session of its own", daemon)
        .judged_by_world(),
    Attempt::new("processes.double-fork", "leaves a grandchild", double_fork).judged_by_world(),
    Attempt::new("processes.stubborn", "leaves one that ignores every signal", stubborn)
        .judged_by_world(),
    Attempt::new("processes.keeps-streams", "leaves one that keeps the streams", keeps_streams)
        .judged_by_world(),
    Attempt::new("processes.sibling", "leaves a process that is a child of the parent", sibling)
        .judged_by_world(),
    Attempt::new("processes.vanishing", "leaves one that forks again and again", vanishing)
        .judged_by_world(),
];

/// What a survivor does, and its end.
fn survive(given: &Given) -> c_int {
    std::thread::sleep(Duration::from_millis(given.number_or("survive_ms", 700)));
    let written = given.path("work", "survived").map(|path| fs::write(path, MARK));
    c_int::from(!matches!(written, Ok(Ok(()))))
}

/// Closes the streams, so that nobody waits for them.
fn close_streams() {
    for stream in 0..3 {
        let _closed = call!(libc::SYS_close, stream);
    }
}

fn left() -> Tried {
    Ok("left one behind".to_owned())
}

fn daemon(given: &Given) -> Tried {
    let middle = fork(|| {
        let _session = call!(libc::SYS_setsid);
        let _last = fork(|| {
            close_streams();
            survive(given)
        });
        0
    })?;
    wait(middle)?;
    left()
}

fn double_fork(given: &Given) -> Tried {
    let middle = fork(|| {
        let _last = fork(|| {
            close_streams();
            survive(given)
        });
        0
    })?;
    wait(middle)?;
    left()
}

fn stubborn(given: &Given) -> Tried {
    fork(|| {
        (1..32).for_each(|signal| ignore_signal(signal, true));
        let _session = call!(libc::SYS_setsid);
        close_streams();
        survive(given)
    })?;
    left()
}

fn keeps_streams(given: &Given) -> Tried {
    fork(|| survive(given))?;
    left()
}

/// CLONE_PARENT makes the child a sibling: its parent is the one who started the sandbox.
fn sibling(given: &Given) -> Tried {
    let flags = libc::CLONE_PARENT | libc::SIGCHLD;
    if call!(libc::SYS_clone, flags, 0, 0, 0, 0)? == 0 {
        close_streams();
        exit_now(survive(given));
    }
    left()
}

/// Ten generations in a row, each ending at once: killing by number comes too late.
fn vanishing(given: &Given) -> Tried {
    fork(|| {
        close_streams();
        for _ in 0..10 {
            match call!(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) {
                Ok(0) => std::thread::sleep(Duration::from_millis(10)),
                _ => exit_now(0),
            }
        }
        survive(given)
    })?;
    left()
}
