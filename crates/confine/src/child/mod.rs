//! A running child: its streams, its end, and the handle whose drop ends it.

mod ahead;
mod groups;
mod launching;
mod spawn;
mod status;

use std::io::{PipeReader, PipeWriter};
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::net::{Shutdown, shutdown};
use rustix::process::{Signal, pidfd_send_signal};

pub(crate) use self::ahead::Ticket;
use self::groups::Groups;
pub(crate) use self::spawn::{rehearse, spawn};
use crate::launcher;
use crate::plan::{Request, Status};
use crate::{ChangeReport, ConfinementReport, End, Limit, Outcome, WaitError, Watch};

/// How long the end of a tree that was killed is waited for.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// A running child.
///
/// Dropping it ends the program and every process that came of it.
#[derive(Debug)]
pub struct Child {
    /// Open for writing as long as this process wants the child to live.
    status: OwnedFd,
    pidfd: OwnedFd,
    /// Whether the kernel ends the whole tree when the first process is killed.
    is_own_namespace: bool,
    stdin: Option<PipeWriter>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    listener: Option<TcpListener>,
    report: ConfinementReport,
    /// What was writable before it started.
    watch: Option<Watch>,
    /// Removed after the end.
    groups: Option<Groups>,
    /// A status that came with the start.
    heard: Option<Status>,
    end: Option<End>,
}

impl Child {
    /// The writing end of standard input, if that is a pipe; once.
    pub fn take_stdin(&mut self) -> Option<PipeWriter> {
        self.stdin.take()
    }

    /// The reading end of standard output, if that is a pipe; once.
    pub fn take_stdout(&mut self) -> Option<PipeReader> {
        self.stdout.take()
    }

    /// The reading end of standard error, if that is a pipe; once.
    pub fn take_stderr(&mut self) -> Option<PipeReader> {
        self.stderr.take()
    }

    /// The listener in the child's network, if one was asked for; once.
    pub fn take_listener(&mut self) -> Option<TcpListener> {
        self.listener.take()
    }

    /// A descriptor that becomes readable when the child has ended, for an event loop;
    /// [`try_wait`](Self::try_wait) has the answer then. Nothing else may be done with it.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.status.as_fd()
    }

    /// What is in force.
    #[must_use]
    pub fn report(&self) -> &ConfinementReport {
        &self.report
    }

    /// What became of the writable directories since the start; nothing where nothing is writable or
    /// nothing is protected. What the host did meanwhile is in it too.
    #[must_use]
    pub fn changes(&self) -> Option<ChangeReport> {
        self.watch.as_ref().map(Watch::report)
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// When the kernel can't be asked.
    pub fn wait(&mut self) -> Result<End, WaitError> {
        loop {
            if let Some(end) = self.wait_for(Duration::from_secs(3600))? {
                return Ok(end);
            }
        }
    }

    /// The end, if it has come.
    ///
    /// # Errors
    /// When the kernel can't be asked.
    pub fn try_wait(&mut self) -> Result<Option<End>, WaitError> {
        self.wait_for(Duration::ZERO)
    }

    /// Waits for the end, no longer than this; nothing if the child still runs then.
    ///
    /// # Errors
    /// When the kernel can't be asked.
    pub fn wait_for(&mut self, timeout: Duration) -> Result<Option<End>, WaitError> {
        if self.end.is_some() {
            return Ok(self.end);
        }
        let has_ended = self.heard.is_some() || status::is_ready(&self.status, timeout)?;
        if has_ended {
            let outcome = match self.last_status()? {
                Some(Status::Exited(code)) => Outcome::Code(code),
                Some(Status::Signaled(signal)) => outcome_of_signal(signal),
                Some(Status::TimedOut) => Outcome::LimitExceeded(Limit::WallClock),
                _ => self.end_without_a_word()?,
            };
            self.end = Some(End { outcome: self.unless_out_of_memory(outcome) });
            self.groups = None;
        }
        Ok(self.end)
    }

    /// What the first process said of the end; nothing if it could not.
    fn last_status(&mut self) -> Result<Option<Status>, WaitError> {
        match self.heard.take() {
            Some(status) => Ok(Some(status)),
            None => Ok(status::next(&self.status)?.map(|(status, _)| status)),
        }
    }

    /// The first process was killed; what it started goes with it.
    fn end_without_a_word(&self) -> Result<Outcome, WaitError> {
        status::is_ready(&self.pidfd, KILL_TIMEOUT)?;
        Ok(Outcome::Signal(libc::SIGKILL))
    }

    /// A program does not end well when its memory is used up; that is why, then.
    fn unless_out_of_memory(&self, outcome: Outcome) -> Outcome {
        let ended_well = outcome == Outcome::Code(0);
        if !ended_well && self.groups.as_ref().is_some_and(Groups::ran_out_of_memory) {
            return Outcome::LimitExceeded(Limit::Memory);
        }
        outcome
    }

    /// Sends `SIGINT` to the program's process group, as Ctrl-C in a terminal would.
    pub fn interrupt(&self) {
        self.ask(Request::Interrupt);
    }

    /// Sends `SIGTERM` to the program's process group, and does not wait.
    pub fn ask_to_end(&self) {
        self.ask(Request::Terminate);
    }

    /// The number of the child's first process, as this process sees it; nothing once it is gone.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        let path = format!("/proc/self/fdinfo/{}", self.pidfd.as_raw_fd());
        let facts = std::fs::read_to_string(path).ok()?;
        let line = facts.lines().find_map(|line| line.strip_prefix("Pid:"))?;
        line.trim().parse().ok()
    }

    /// Ends the child: `SIGTERM` to the program's group, and after the grace everything is killed.
    ///
    /// # Errors
    /// When the kernel can't be asked.
    pub fn terminate(&mut self, grace: Duration) -> Result<End, WaitError> {
        self.ask_to_end();
        if let Some(end) = self.wait_for(grace)? {
            return Ok(end);
        }
        self.kill();
        self.wait()
    }

    /// Kills every process of the child at once, without waiting for the end.
    pub fn kill(&mut self) {
        // The first process ends all others when this is closed, and takes them along if killed.
        let _ = shutdown(&self.status, Shutdown::Write);
        if self.is_own_namespace && self.end.is_none() {
            let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        }
    }

    /// Asks the first process for something; one that is gone needs nothing.
    fn ask(&self, request: Request) {
        let _ = launcher::send(self.status.as_fd(), &[request.byte()], &[]);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.end.is_some() {
            return;
        }
        self.kill();
        if !status::is_ready(&self.pidfd, KILL_TIMEOUT).unwrap_or(false) {
            let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        }
    }
}

/// What a signal says about limits.
fn outcome_of_signal(signal: i32) -> Outcome {
    match signal {
        libc::SIGXCPU => Outcome::LimitExceeded(Limit::CpuTime),
        libc::SIGXFSZ => Outcome::LimitExceeded(Limit::FileSize),
        signal => Outcome::Signal(signal),
    }
}
