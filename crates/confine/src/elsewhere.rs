//! What there is where the kernel is not Linux: an error for every attempt.
//!
//! The types can't be made, so their methods can't be called.

use std::io::{PipeReader, PipeWriter};
use std::net::TcpListener;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::{Command, Confinement, ConfinementReport, End, PrepareError, SpawnError, WaitError};

/// A confinement; none can be had here.
#[derive(Debug, Clone)]
pub enum Prepared {}

/// A running child; there is none here.
#[derive(Debug)]
pub enum Child {}

impl Confinement {
    /// Refuses: nothing can be confined here.
    ///
    /// # Errors
    /// Always.
    pub fn prepare(&self) -> Result<Prepared, PrepareError> {
        Err(PrepareError::Missing {
            what: "the file system, the network and the process tree".to_owned(),
            why: "this is not Linux".to_owned(),
            remedy: "run it on Linux, in a virtual machine for example",
        })
    }
}

impl Prepared {
    /// Starts a child.
    ///
    /// # Errors
    /// Never called.
    pub fn spawn(&self, _command: Command) -> Result<Child, SpawnError> {
        match *self {}
    }

    /// What is in force.
    #[must_use]
    pub fn report(&self) -> &ConfinementReport {
        match *self {}
    }
}

impl Child {
    /// The writing end of standard input.
    pub fn take_stdin(&mut self) -> Option<PipeWriter> {
        match *self {}
    }

    /// The reading end of standard output.
    pub fn take_stdout(&mut self) -> Option<PipeReader> {
        match *self {}
    }

    /// The reading end of standard error.
    pub fn take_stderr(&mut self) -> Option<PipeReader> {
        match *self {}
    }

    /// The listener in the child's network.
    pub fn take_listener(&mut self) -> Option<TcpListener> {
        match *self {}
    }

    /// A descriptor that becomes readable at the end.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        match *self {}
    }

    /// What is in force.
    #[must_use]
    pub fn report(&self) -> &ConfinementReport {
        match *self {}
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// Never called.
    pub fn wait(&mut self) -> Result<End, WaitError> {
        match *self {}
    }

    /// The end, if it has come.
    ///
    /// # Errors
    /// Never called.
    pub fn try_wait(&mut self) -> Result<Option<End>, WaitError> {
        match *self {}
    }

    /// Waits for the end, no longer than this.
    ///
    /// # Errors
    /// Never called.
    pub fn wait_for(&mut self, _timeout: Duration) -> Result<Option<End>, WaitError> {
        match *self {}
    }

    /// Sends `SIGINT`.
    pub fn interrupt(&self) {
        match *self {}
    }

    /// Sends `SIGTERM`.
    pub fn ask_to_end(&self) {
        match *self {}
    }

    /// The number of the first process.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        match *self {}
    }

    /// Ends the child.
    ///
    /// # Errors
    /// Never called.
    pub fn terminate(&mut self, _grace: Duration) -> Result<End, WaitError> {
        match *self {}
    }

    /// Kills every process of the child.
    pub fn kill(&mut self) {
        match *self {}
    }
}
