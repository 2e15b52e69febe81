//! The launcher's own process: from its start before `main` to its end.
//!
//! It has one thread, an environment of one name, no descriptor but its socket, its own session
//! (so that no terminal's signal reaches it), and can't be inspected by others of the same user.
//! It keeps nothing between jobs. The kernel reaps its children; the host learns of their end by
//! their own descriptors.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::sockopt::{socket_peercred, socket_type};
use rustix::process::{DumpableBehavior, Pid, WaitOptions, getppid, set_dumpable_behavior, setsid};
use rustix::thread::set_thread_groups;

use super::{GREETING, channel};
use crate::cgroup;
use crate::inside;
use crate::sys::{self, Cloned};

/// Whether a socket is one that this process's parent made to start a launcher.
pub(crate) fn is_from_parent(socket: BorrowedFd<'_>) -> bool {
    let is_message_socket =
        socket_type(socket).is_ok_and(|kind| kind == rustix::net::SocketType::SEQPACKET);
    let maker = socket_peercred(socket).ok().map(|credentials| credentials.pid);
    is_message_socket && maker.is_some() && maker == getppid()
}

/// Serves until the host is gone.
pub(crate) fn serve(socket: OwnedFd) -> ! {
    let host = getppid();
    if settle().is_ok() && channel::send(socket.as_fd(), GREETING, &[]).is_ok() {
        while let Ok(Some(job)) = next_job(&socket) {
            let answer = make_child(job, &socket);
            if reply(&socket, answer).is_err() {
                break;
            }
        }
    }
    if let Some(host) = host {
        clean_up_after(host);
    }
    sys::exit_now(0)
}

/// Waits for the last child to end, as each does without its host, and removes their groups.
fn clean_up_after(host: Pid) {
    // The kernel reaps: this returns with an error when there is nobody left to wait for.
    while rustix::process::wait(WaitOptions::empty()).is_ok() {}
    cgroup::remove_all_of(host.as_raw_pid().unsigned_abs());
}

/// Leaves behind what a started program has of the host.
fn settle() -> io::Result<()> {
    sys::close_from(1)?;
    sys::reset_signals()?;
    sys::reap_automatically()?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    // Only the superuser may leave groups; an ordinary user's are what that user is anyway.
    let _ = set_thread_groups(&[]);
    setsid()?;
    Ok(())
}

/// A job as the launcher sees it: which namespaces, and descriptors that it does not look into.
struct Job {
    namespaces: u64,
    descriptors: Vec<OwnedFd>,
}

/// Waits for a job; nothing if the host is gone.
fn next_job(socket: &OwnedFd) -> io::Result<Option<Job>> {
    let mut bytes = [0; size_of::<u64>()];
    let (length, descriptors) = channel::receive(socket.as_fd(), &mut bytes)?;
    let is_whole = length == bytes.len();
    Ok(is_whole.then(|| Job { namespaces: u64::from_ne_bytes(bytes), descriptors }))
}

/// Makes the process; in it, this does not return.
fn make_child(job: Job, socket: &OwnedFd) -> io::Result<OwnedFd> {
    match sys::clone_with_pidfd(job.namespaces)? {
        Cloned::Parent(pidfd) => Ok(pidfd),
        Cloned::Child => inside::run(job.descriptors, socket),
    }
}

/// Answers with the process's descriptor, or with the error's number.
fn reply(socket: &OwnedFd, answer: io::Result<OwnedFd>) -> io::Result<()> {
    match answer {
        Ok(pidfd) => channel::send(socket.as_fd(), &0_i32.to_ne_bytes(), &[pidfd.as_fd()]),
        Err(error) => {
            let number = error.raw_os_error().unwrap_or(libc::EIO);
            channel::send(socket.as_fd(), &number.to_ne_bytes(), &[])
        }
    }
}
