//! The control channel from the host's side: bytes out, lines in, both at once.
//!
//! Reading goes on while something waits to be written, so a large request and a talkative driver
//! cannot block each other. A line is bounded; past the bound the channel counts as broken.
//!
//! The event loop knows of the channel only while somebody waits in it ([`Control::next_line`], until
//! [`Control::rest`]): an answer that comes at once wakes nobody else then.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use tokio::net::unix::pipe::{Receiver, Sender};

use crate::output::is_not_now;

const CHUNK: usize = 8 << 10;

/// What came from the driver.
#[derive(Debug)]
pub(super) enum Line {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// The driver's end is closed.
    Ended,
    /// A line was longer than allowed.
    TooLong,
}

/// Both directions of the channel.
#[derive(Debug)]
pub(super) struct Control {
    output: OwnedFd,
    unsent: Vec<u8>,
    input: OwnedFd,
    received: Received,
    waiting: Option<Waiting>,
}

/// The channel as the event loop knows it: descriptors of its own.
#[derive(Debug)]
struct Waiting {
    output: Sender,
    input: Receiver,
}

impl Control {
    /// Takes the host's ends: requests are written to `output`, events read from `input`.
    pub(super) fn new(output: OwnedFd, input: OwnedFd, max_line: usize) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&output, true)?;
        rustix::io::ioctl_fionbio(&input, true)?;
        let received = Received {
            bytes: Vec::new(),
            scanned: 0,
            chunk: vec![0; CHUNK],
            max_line,
            ended: false,
        };
        Ok(Self { output, unsent: Vec::new(), input, received, waiting: None })
    }

    /// Writes what goes at once; [`Control::next_line`] writes the rest.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        if self.unsent.is_empty() {
            let wrote = rustix::io::write(&self.output, bytes).map_err(io::Error::from);
            match wrote {
                Ok(count) => self.unsent.extend_from_slice(&bytes[count..]),
                Err(error) if is_not_now(&error) => self.unsent.extend_from_slice(bytes),
                // The driver is gone, which the reading side tells.
                Err(_) => {}
            }
            return;
        }
        self.unsent.extend_from_slice(bytes);
        let wrote = rustix::io::write(&self.output, &self.unsent).map_err(io::Error::from);
        sent(&mut self.unsent, wrote);
    }

    /// Whether something waits to be written.
    pub(super) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Where lines come from, to be asked whether there is one.
    pub(super) fn source(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// The next line. Cancel safe.
    pub(super) async fn next_line(&mut self) -> Line {
        loop {
            if let Some(line) = self.received.line() {
                return line;
            }
            if self.waiting.is_none() {
                let Ok(waiting) = self.register() else { return Line::Ended };
                self.waiting = Some(waiting);
            }
            let Some(Waiting { output, input }) = &self.waiting else { return Line::Ended };
            tokio::select! {
                _ = input.readable() => {
                    let read = input.try_read(&mut self.received.chunk);
                    self.received.take_in(read);
                }
                _ = output.writable(), if !self.unsent.is_empty() => {
                    let wrote = output.try_write(&self.unsent);
                    sent(&mut self.unsent, wrote);
                }
            }
        }
    }

    fn register(&self) -> io::Result<Waiting> {
        let output = Sender::from_owned_fd(self.output.try_clone()?)?;
        let input = Receiver::from_owned_fd(self.input.try_clone()?)?;
        Ok(Waiting { output, input })
    }

    /// Nobody waits for lines any more.
    pub(super) fn rest(&mut self) {
        self.waiting = None;
    }

    /// The next line of those that are there, without waiting.
    pub(super) fn ready_line(&mut self) -> Option<Line> {
        loop {
            if let Some(line) = self.received.line() {
                return Some(line);
            }
            let read = rustix::io::read(&self.input, &mut self.received.chunk[..]);
            if !self.received.take_in(read.map_err(io::Error::from)) {
                return None;
            }
        }
    }
}

/// Forgets what was written; all of it where the driver is gone, which the reading side tells.
fn sent(unsent: &mut Vec<u8>, wrote: io::Result<usize>) {
    match wrote {
        Ok(count) => drop(unsent.drain(..count)),
        Err(error) if is_not_now(&error) => {}
        Err(_) => unsent.clear(),
    }
}

/// What was read and is not a whole line yet.
#[derive(Debug)]
struct Received {
    bytes: Vec<u8>,
    scanned: usize,
    chunk: Vec<u8>,
    max_line: usize,
    ended: bool,
}

impl Received {
    /// Takes in a read into `chunk`; whether there was something, or the end.
    fn take_in(&mut self, read: io::Result<usize>) -> bool {
        match read {
            Ok(count) if count > 0 => self.bytes.extend_from_slice(&self.chunk[..count]),
            Err(error) if is_not_now(&error) => return false,
            _ => self.ended = true,
        }
        true
    }

    fn line(&mut self) -> Option<Line> {
        if let Some(at) = self.bytes[self.scanned..].iter().position(|&byte| byte == b'\n') {
            let rest = self.bytes.split_off(self.scanned + at + 1);
            let mut line = std::mem::replace(&mut self.bytes, rest);
            line.pop();
            self.scanned = 0;
            return Some(Line::Whole(line));
        }
        self.scanned = self.bytes.len();
        if self.scanned > self.max_line {
            return Some(Line::TooLong);
        }
        self.ended.then_some(Line::Ended)
    }
}
