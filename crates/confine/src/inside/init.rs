//! Init: makes the program's process, then waits for whatever comes first and ends.
//!
//! What it waits for: the program's end, the wall clock, a request of the host, the host's end (its
//! side of the status socket closes). Orphans are reaped on the way. Its own end is the end of
//! every process of its namespace; without one, the processes that it has as descendants are
//! killed one by one before it ends.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};

use super::payload::Payload;
use super::{During, Failure, privileges};
use crate::Step;
use crate::launcher;
use crate::plan::{Plan, Request, Status};
use crate::sys::{self, Forked};

/// Has the program's process made, and watches it; the answer is how it ended.
pub(super) fn start_and_watch(plan: &Plan, payload: Payload<'_>) -> Result<Status, Failure> {
    let signals = sys::child_signals().during(Step::Fork)?;
    if plan.namespaces.is_none() {
        privileges::adopt_orphans().during(Step::Fork)?;
    }
    let status = payload.status;
    let child = match sys::fork().during(Step::Fork)? {
        Forked::Child => payload.become_program(plan),
        Forked::Parent(child) => Pid::from_raw(child),
    };
    drop(payload);
    let watch = Watch { child, signals, status, wall_clock: plan.wall_clock };
    let ended =
        privileges::give_up_as_init().during(Step::Capabilities).map(|()| watch.until_the_end());
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
    status: &'a OwnedFd,
    /// How long the program may run, from when the host says that it does.
    wall_clock: Option<Duration>,
}

impl Watch<'_> {
    /// Waits until there is a reason to end.
    fn until_the_end(&self) -> Status {
        let mut deadline = None;
        loop {
            if let Some(end) = self.reap() {
                return end;
            }
            match self.wait(deadline) {
                Ok(Event::Something) => {}
                Ok(Event::Deadline) => return Status::TimedOut,
                Err(_) => return Status::Signaled(libc::SIGKILL),
            }
            match self.next_request() {
                None => {}
                Some(Asked::Nothing) => return Status::Signaled(libc::SIGKILL),
                Some(Asked::For(Request::Interrupt)) => self.signal(Signal::INT),
                Some(Asked::For(Request::Terminate)) => self.signal(Signal::TERM),
                Some(Asked::For(Request::StartClock)) => {
                    deadline = self.wall_clock.and_then(|time| Instant::now().checked_add(time));
                }
            }
        }
    }

    /// Waits for the next event, no longer than until the deadline.
    fn wait(&self, deadline: Option<Instant>) -> io::Result<Event> {
        let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return Ok(Event::Deadline);
        }
        let timeout = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        let mut waiting =
            [PollFd::new(&self.signals, PollFlags::IN), PollFd::new(self.status, PollFlags::IN)];
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

    /// What the host asks for, if it has said something.
    fn next_request(&self) -> Option<Asked> {
        let mut byte = [0];
        match launcher::receive_now(self.status.as_fd(), &mut byte) {
            Ok(None) => None,
            Ok(Some((1, _))) => Request::of(byte[0]).map(Asked::For),
            _ => Some(Asked::Nothing),
        }
    }

    /// Signals the program's process group, which the program leads.
    fn signal(&self, signal: Signal) {
        if let Some(child) = self.child {
            // A group that has just ended needs no signal.
            let _ = kill_process_group(child, signal);
        }
    }
}

/// What the host wants.
enum Asked {
    /// Something to be done.
    For(Request),
    /// Nothing any more: it is gone, or does not want the child.
    Nothing,
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
