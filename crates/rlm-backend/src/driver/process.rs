//! What the owner of a driver process gives to the link: descriptors, and power over the process.

use std::os::fd::OwnedFd;

use tool_core::{BoxFuture, ExitStatus};

/// The host's ends of a driver's four pipes.
#[derive(Debug)]
pub struct Channels {
    /// Requests are written here.
    pub control_in: OwnedFd,
    /// Events are read here.
    pub control_out: OwnedFd,
    /// The process's standard output.
    pub stdout: OwnedFd,
    /// The process's standard error.
    pub stderr: OwnedFd,
}

/// A driver process, as far as a link needs power over it. Dropping it should end the process.
pub trait DriverProcess: Send {
    /// Sends SIGINT to the process group of the driver.
    fn interrupt(&mut self);

    /// Kills the driver and everything that it started.
    fn kill(&mut self);

    /// Waits until the driver process has ended; at once where it has. Cancel safe.
    fn ended(&mut self) -> BoxFuture<'_, ExitStatus>;
}
