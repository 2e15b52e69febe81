//! Init: starts the program, then waits for whatever comes first and ends.
//!
//! What it waits for: the program's end, the wall clock, a request of the host, the host's end (its
//! side of the status socket closes). Orphans are reaped on the way. Its own end is the end of
//! every process of its namespace; without one, the processes that it has as descendants are
//! killed one by one before it ends.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};

use super::{During, Failure, payload, privileges, tell};
use crate::Step;
use crate::launcher;
use crate::plan::{Plan, Program, Request, Status};
use crate::sys::{self, Forked};

/// Starts the program, says that it runs, and watches it; the answer is how it ended.
pub(super) fn start_and_watch(
    plan: &Plan,
    program: &Program,
    inherited: Vec<OwnedFd>,
    status: BorrowedFd<'_>,
) -> Result<Status, Failure> {
    let deadline = plan.wall_clock.and_then(|timeout| Instant::now().checked_add(timeout));
    let signals = sys::child_signals().during(Step::Fork)?;
    let (outcome, failure) = pipe_with(PipeFlags::CLOEXEC).during(Step::Fork)?;
    if plan.namespaces.is_none() {
        privileges::adopt_orphans().during(Step::Fork)?;
    }
    let child = match sys::fork().during(Step::Fork)? {
        Forked::Child => payload::become_program(plan, program, inherited, &failure),
        Forked::Parent(child) => Pid::from_raw(child),
    };
    drop((inherited, failure));
    let watch = Watch { child, signals, status, deadline };
    let ended = privileges::give_up_as_init()
        .during(Step::Capabilities)
        .and_then(|()| payload::outcome(&outcome))
        .map(|()| {
            tell(status, Status::Started);
            watch.until_the_end()
        });
    match &plan.namespaces {
        Some(_) => end_namespace(),
        None => end_descendants(),
    }
    ended
}

/// What is watched.
struct Watch<'a> {
    child: Option<Pid>,
    signals: OwnedFd,
    status: BorrowedFd<'a>,
    deadline: Option<Instant>,
}

impl Watch<'_> {
    /// Waits until there is a reason to end.
    fn until_the_end(&self) -> Status {
        loop {
            if let Some(end) = self.reap() {
                return end;
            }
            match self.wait() {
                Ok(Event::Something) => {}
                Ok(Event::Deadline) => return Status::TimedOut,
                Err(_) => return Status::Signaled(libc::SIGKILL),
            }
            if let Some(end) = self.serve_host() {
                return end;
            }
        }
    }

    /// Waits for the next event, no longer than until the deadline.
    fn wait(&self) -> io::Result<Event> {
        let left = self.deadline.map(|at| at.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return Ok(Event::Deadline);
        }
        let timeout = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        let mut waiting = [
            PollFd::new(&self.signals, PollFlags::IN),
            PollFd::from_borrowed_fd(self.status, PollFlags::IN),
        ];
        match poll(&mut waiting, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(Event::Something),
            Err(error) => Err(error.into()),
        }
    }

    /// Reaps what has ended; an answer if the program is among it.
    fn reap(&self) -> Option<Status> {
        let mut pending = [0; 128];
        while rustix::io::read(&self.signals, &mut pending).is_ok() {}
        let mut end = None;
        while let Ok(Some((pid, how))) = wait(WaitOptions::NOHANG) {
            if Some(pid) == self.child {
                end = how
                    .exit_status()
                    .map(Status::Exited)
                    .or_else(|| how.terminating_signal().map(Status::Signaled));
            }
        }
        end
    }

    /// Does what the host asks; an answer if the host is gone.
    fn serve_host(&self) -> Option<Status> {
        let mut ready = [PollFd::from_borrowed_fd(self.status, PollFlags::IN)];
        let now = Timespec::default();
        if poll(&mut ready, Some(&now)).is_ok_and(|count| count == 0) {
            return None;
        }
        let mut byte = [0];
        match launcher::receive(self.status, &mut byte) {
            Ok((1, _)) => self.signal(Request::of(byte[0])?),
            _ => return Some(Status::Signaled(libc::SIGKILL)),
        }
        None
    }

    /// Signals the program's process group, which the program leads.
    fn signal(&self, request: Request) {
        let signal = match request {
            Request::Interrupt => Signal::INT,
            Request::Terminate => Signal::TERM,
        };
        if let Some(child) = self.child {
            // A group that has just ended needs no signal.
            let _ = kill_process_group(child, signal);
        }
    }
}

/// Why a wait ended.
enum Event {
    /// Something may have happened.
    Something,
    /// The wall clock ran out.
    Deadline,
}

/// Kills every other process of the namespace, so that none is left when the host hears of the end.
/// The kernel would do it too, but after the namespaces were taken apart, which takes a while.
fn end_namespace() {
    loop {
        // The group of process 1 stands for everybody (kill -1).
        let _ = kill_process_group(Pid::INIT, Signal::KILL);
        if wait(WaitOptions::empty()).is_err() {
            return;
        }
    }
}

/// Kills every descendant, again until none is left.
///
/// Orphans become children of this process (it is a subreaper), so that one that left its group or
/// session is found too. A process that is forking is caught in a later round.
fn end_descendants() {
    while let Ok(children) = std::fs::read_to_string("/proc/thread-self/children") {
        let children: Vec<_> = children
            .split_whitespace()
            .filter_map(|number| number.parse().ok())
            .filter_map(Pid::from_raw)
            .collect();
        for child in &children {
            let _ = rustix::process::kill_process(*child, Signal::KILL);
        }
        if wait(WaitOptions::empty()).is_err() {
            return;
        }
    }
}
