//! Hearing from a child's first process.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::launcher;
use crate::plan::Status;
use crate::witness::MESSAGE_BYTES;

/// A message: what it says, and the descriptor that came with it.
type Message = (Status, Option<OwnedFd>);

/// Waits for the next status; nothing if the first process ended without one.
pub(super) fn next(socket: &OwnedFd) -> io::Result<Option<Message>> {
    let mut bytes = [0; MESSAGE_BYTES];
    let (length, descriptors) = launcher::receive(socket.as_fd(), &mut bytes)?;
    Ok(read(bytes.get(..length), descriptors))
}

/// The next status if it has come already.
pub(super) fn next_now(socket: &OwnedFd) -> io::Result<Option<Message>> {
    let mut bytes = [0; MESSAGE_BYTES];
    let message = launcher::receive_now(socket.as_fd(), &mut bytes)?;
    Ok(message.and_then(|(length, descriptors)| read(bytes.get(..length), descriptors)))
}

/// What the bytes of a message say.
fn read(bytes: Option<&[u8]>, descriptors: Vec<OwnedFd>) -> Option<Message> {
    let status = postcard::from_bytes(bytes?).ok()?;
    Some((status, descriptors.into_iter().next()))
}

/// Waits until the other end of a socket is closed, whatever was said before.
pub(super) fn await_close(socket: &OwnedFd) -> io::Result<()> {
    loop {
        // Without an event asked for, the kernel still tells of the end.
        match poll(&mut [PollFd::new(socket, PollFlags::empty())], None) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
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
