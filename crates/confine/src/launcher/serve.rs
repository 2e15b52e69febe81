//! The launcher's own process: from its start before `main` to its end.
//!
//! It has one thread, an environment of one name, no descriptor but its socket, its own session
//! (so that no terminal's signal reaches it), and can't be inspected by others of the same user.
//! Between jobs it keeps one process in namespaces that are made already, for the next job of the
//! same kind. No two jobs get the same namespaces. The kernel reaps its children; the host learns of their end by
//! their own descriptors.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::SocketType;
use rustix::net::sockopt::{socket_peercred, socket_type};
use rustix::process::{DumpableBehavior, Pid, WaitOptions, getppid, set_dumpable_behavior, setsid};
use rustix::thread::set_thread_groups;

use super::{GREETING, REQUEST_BYTES, channel};
use crate::cgroup;
use crate::inside;
use crate::plan::Identity;
use crate::sys::{self, Cloned};

/// Whether a descriptor is such a socket as a launcher is started with.
pub(crate) fn is_message_socket(socket: BorrowedFd<'_>) -> bool {
    socket_type(socket).is_ok_and(|kind| kind == SocketType::SEQPACKET)
}

/// Serves until the host is gone.
pub(crate) fn serve(socket: OwnedFd) -> ! {
    if let Some(host) = socket_peercred(&socket).ok().map(|credentials| credentials.pid) {
        // If the host is gone already, somebody else is the parent now.
        let is_here = getppid() == Some(host);
        if is_here && settle().is_ok() && channel::send(socket.as_fd(), GREETING, &[]).is_ok() {
            Launcher { socket, spare: None }.serve();
        }
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

/// The launcher's state.
struct Launcher {
    socket: OwnedFd,
    spare: Option<Spare>,
}

/// A job as the launcher sees it: which namespaces, and descriptors that it does not look into.
struct Job {
    namespaces: u64,
    /// Whether its namespaces may have been made before it came.
    may_be_spare: bool,
    descriptors: Vec<OwnedFd>,
}

impl Launcher {
    /// Takes one job after another.
    fn serve(mut self) {
        while let Ok(Some(job)) = self.next_job() {
            let namespaces = job.namespaces;
            let answer = self.make_child(job);
            if self.reply(answer).is_err() {
                break;
            }
            self.keep_spare(namespaces);
        }
    }

    /// Waits for a job; nothing if the host is gone.
    fn next_job(&self) -> io::Result<Option<Job>> {
        let mut bytes = [0; REQUEST_BYTES];
        let (length, descriptors) = channel::receive(self.socket.as_fd(), &mut bytes)?;
        let (flag, namespaces) = (bytes[0], bytes[1..].try_into().map_err(io::Error::other)?);
        let namespaces = u64::from_ne_bytes(namespaces);
        let is_whole = length == REQUEST_BYTES;
        Ok(is_whole.then_some(Job { namespaces, may_be_spare: flag != 0, descriptors }))
    }

    /// Hands the job to the spare process, or makes one; in that one, this does not return.
    fn make_child(&mut self, job: Job) -> io::Result<OwnedFd> {
        let fits = |spare: &Spare| spare.namespaces == job.namespaces;
        if job.may_be_spare
            && self.spare.as_ref().is_some_and(fits)
            && let Some(spare) = self.spare.take()
            && spare.hand_over(&job.descriptors).is_ok()
        {
            return Ok(spare.pidfd);
        }
        match sys::clone_with_pidfd(job.namespaces)? {
            Cloned::Parent(pidfd) => Ok(pidfd),
            Cloned::Child => {
                self.let_go();
                inside::run(job.descriptors)
            }
        }
    }

    /// Makes a spare process for the next job of this kind, if its namespaces are worth it. Without
    /// one, the next job takes longer and is told if something is wrong.
    fn keep_spare(&mut self, namespaces: u64) {
        if namespaces & NEW_NETWORK != 0 && self.spare.is_none() {
            self.spare = self.make_spare(namespaces).ok();
        }
    }

    /// Makes a process that prepares itself and waits; in it, this does not return.
    fn make_spare(&mut self, namespaces: u64) -> io::Result<Spare> {
        let identity = Identity::own();
        let (jobs, theirs) = channel::pair()?;
        match sys::clone_with_pidfd(namespaces)? {
            Cloned::Parent(pidfd) => Ok(Spare { namespaces, jobs, pidfd }),
            Cloned::Child => {
                drop(jobs);
                self.let_go();
                inside::wait_and_run(&theirs, identity)
            }
        }
    }

    /// Closes, in a child, what is the launcher's alone.
    fn let_go(&mut self) {
        self.spare = None;
        // The number is not used again: a child never comes back to the launcher's loop.
        let _ = sys::close_number(self.socket.as_raw_fd());
    }

    /// Answers with the process's descriptor, or with the error's number.
    fn reply(&self, answer: io::Result<OwnedFd>) -> io::Result<()> {
        match answer {
            Ok(pidfd) => channel::send(self.socket.as_fd(), &0_i32.to_ne_bytes(), &[pidfd.as_fd()]),
            Err(error) => {
                let number = error.raw_os_error().unwrap_or(libc::EIO);
                channel::send(self.socket.as_fd(), &number.to_ne_bytes(), &[])
            }
        }
    }
}

/// The bit of a new network namespace, the one that takes longest to make.
const NEW_NETWORK: u64 = libc::CLONE_NEWNET as u64;

/// A process in new namespaces that waits for its job.
struct Spare {
    namespaces: u64,
    jobs: OwnedFd,
    pidfd: OwnedFd,
}

impl Spare {
    /// Gives it its job.
    fn hand_over(&self, descriptors: &[OwnedFd]) -> io::Result<()> {
        let borrowed: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        channel::send(self.jobs.as_fd(), &[0], &borrowed)
    }
}
