//! Hearing from a child's first process.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::launcher;
use crate::plan::Status;

/// Longer than any status in bytes.
const MESSAGE_BYTES: usize = 64;

/// Waits for the next status; nothing if the first process ended without one.
pub(super) fn next(socket: &OwnedFd) -> io::Result<Option<Status>> {
    let mut bytes = [0; MESSAGE_BYTES];
    let (length, _) = launcher::receive(socket.as_fd(), &mut bytes)?;
    let message = bytes.get(..length).unwrap_or_default();
    Ok(postcard::from_bytes(message).ok())
}

/// The last status of a first process that has ended.
pub(super) fn last(socket: &OwnedFd) -> Option<Status> {
    let mut last = None;
    while let Ok(Some(status)) = next(socket) {
        last = Some(status);
    }
    last
}

/// Waits until a descriptor is readable (that of a process: until it has ended), no longer than
/// `timeout`.
pub(super) fn is_ready(descriptor: &OwnedFd, timeout: Duration) -> io::Result<bool> {
    let deadline = Instant::now().checked_add(timeout);
    loop {
        let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        let left = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(descriptor, PollFlags::IN)], left.as_ref()) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
