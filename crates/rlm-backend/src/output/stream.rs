//! One output pipe of a session's process, read into a collector as it fills.
//!
//! Nothing here waits for the end of a pipe: a process that lives on may hold it open for ever. What
//! a driver wrote before it said "done" is in the pipe by then, so [`OutputStream::drain`] takes what
//! the kernel says is there at that moment, and no more.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Arc,
};

use confine::Collector;
use tokio::net::unix::pipe::Receiver;

use super::{Captured, OutputSource, OutputWatcher, watch::Watched};

const CHUNK: usize = 32 << 10;

/// A pipe and what was read from it.
#[derive(Debug)]
pub(crate) struct OutputStream {
    pipe: Receiver,
    collector: Collector,
    buffer: Vec<u8>,
    ended: bool,
    source: OutputSource,
    watched: Option<Watched>,
}

impl OutputStream {
    /// Takes the reading end of a pipe; `max` is how many bytes of a call are kept.
    pub(crate) fn new(fd: OwnedFd, max: usize, source: OutputSource) -> io::Result<Self> {
        Ok(Self {
            pipe: Receiver::from_owned_fd(fd)?,
            collector: Collector::new(max),
            buffer: vec![0; CHUNK],
            ended: false,
            source,
            watched: None,
        })
    }

    /// Shows what is read from now on to a watcher.
    pub(crate) fn watch(&mut self, watcher: Arc<dyn OutputWatcher>) {
        self.watched = Some(Watched::new(watcher, self.source));
    }

    /// Shows the rest, and nothing any more.
    pub(crate) fn end_watch(&mut self) {
        if let Some(watched) = self.watched.take() {
            watched.finish();
        }
    }

    /// Waits until something is there and takes one chunk of it. Pending for ever once the pipe has
    /// ended. Cancel safe.
    pub(crate) async fn fill(&mut self) {
        if self.ended {
            return std::future::pending().await;
        }
        let read = match self.pipe.readable().await {
            Ok(()) => self.pipe.try_read(&mut self.buffer),
            Err(error) => Err(error),
        };
        self.take_in(read);
    }

    /// The pipe, to be asked whether something is in it.
    pub(crate) fn source(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Takes what is in the pipe now, without waiting.
    ///
    /// It asks the kernel, not the runtime, which may not have heard of it yet.
    pub(crate) fn drain(&mut self) {
        let mut there = rustix::io::ioctl_fionread(&self.pipe).unwrap_or(0);
        while there > 0 {
            let read = rustix::io::read(&self.pipe, &mut self.buffer[..]).map_err(io::Error::from);
            let Some(count) = self.take_in(read) else { return };
            there = there.saturating_sub(count as u64);
        }
    }

    /// What was read since it was last taken.
    pub(crate) fn kept(&self) -> Captured {
        self.collector.kept()
    }

    /// What was read since the last time.
    pub(crate) fn take(&mut self) -> Captured {
        self.collector.take()
    }

    /// Keeps what was read; gives its length, where there was something.
    fn take_in(&mut self, read: io::Result<usize>) -> Option<usize> {
        match read {
            Ok(count) if count > 0 => {
                let bytes = &self.buffer[..count];
                self.collector.push(bytes);
                if let Some(watched) = &mut self.watched {
                    watched.push(bytes);
                }
                return Some(count);
            }
            Ok(_) => self.ended = true,
            Err(error) if is_not_now(&error) => {}
            Err(_) => self.ended = true,
        }
        None
    }
}

/// Whether a read or write may succeed later.
pub(crate) fn is_not_now(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
