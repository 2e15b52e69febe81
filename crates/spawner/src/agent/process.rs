//! The work of an agent that is a program: its three pipes and its end, in one `select!`.
//!
//! Nothing here waits for one thing alone, so a task of any size on standard input and output of any
//! size do not block each other. The end of the program is the end of its tree; what is then still in
//! the pipes is read, and a pipe that does not end is given up.

use std::{io, os::fd::OwnedFd, time::Duration};

use confine::{Child, End, Outcome};
use tokio::{
    io::{Interest, unix::AsyncFd},
    net::unix::pipe::{Receiver, Sender},
    time::Instant,
};
use tool_core::ExitStatus;

use super::{Ended, launch::Started};
use crate::{
    AgentState,
    capture::{Capture, OutputStream},
};

/// How long pipes may stay open after the end.
const DRAIN: Duration = Duration::from_millis(500);
/// How often an end is looked for where the event loop can't tell of it.
const LOOK: Duration = Duration::from_millis(20);
/// How much is read at once as a rule: what a pipe holds.
const CHUNK: usize = 64 * 1024;
/// How much is read at once of a program that fills its pipe.
const LARGE_CHUNK: usize = 256 * 1024;
/// How much may wait in the pipe of such a program.
const LARGE_PIPE: usize = 1024 * 1024;
/// How often a stream is read before another gets its turn.
const TURN: usize = 8;

/// A program at work. Dropping it ends its whole tree.
#[derive(Debug)]
pub(crate) struct ProcessWork {
    child: Child,
    pid: Option<u32>,
    exited: Option<AsyncFd<OwnedFd>>,
    stdout: Option<Receiver>,
    stderr: Option<Receiver>,
    stdin: Option<Feed>,
    buffer: Vec<u8>,
    /// How it ended, and until when its pipes are read.
    end: Option<(Ended, Instant)>,
}

/// A task on its way to standard input.
#[derive(Debug)]
struct Feed {
    pipe: Sender,
    task: Vec<u8>,
    written: usize,
}

impl ProcessWork {
    /// Takes a child whose output streams are pipes. Must be called within the event loop.
    pub(crate) fn new(started: Started, task: Option<Vec<u8>>) -> io::Result<Self> {
        let Started { mut child, pid } = started;
        let receiver = |pipe: Option<io::PipeReader>| {
            pipe.map(|pipe| Receiver::from_owned_fd(pipe.into())).transpose()
        };
        let stdout = receiver(child.take_stdout())?;
        let stderr = receiver(child.take_stderr())?;
        let feed = |pipe: io::PipeWriter| {
            let pipe = Sender::from_owned_fd(pipe.into())?;
            Ok::<_, io::Error>(Feed { pipe, task: task.unwrap_or_default(), written: 0 })
        };
        let stdin = child.take_stdin().map(feed).transpose()?;
        // What is there already is told once the descriptor is registered.
        let exited = child.descriptor().try_clone_to_owned().and_then(register).ok();
        Ok(Self { child, pid, exited, stdout, stderr, stdin, buffer: vec![0; CHUNK], end: None })
    }

    pub(super) fn pid(&self) -> Option<u32> {
        self.pid
    }

    pub(super) fn ask_to_end(&mut self) {
        self.child.ask_to_end();
    }

    pub(super) fn kill(&mut self) {
        self.child.kill();
    }

    pub(super) async fn step(&mut self, capture: &mut Capture) -> Option<Ended> {
        if let Some((ended, until)) = &self.end
            && (self.stdout.is_none() && self.stderr.is_none() || *until <= Instant::now())
        {
            return Some(ended.clone());
        }
        let Self { exited, stdout, stderr, stdin, end, .. } = &*self;
        let news = tokio::select! {
            _ = readable(stdout.as_ref()), if stdout.is_some() => News::Stdout,
            _ = readable(stderr.as_ref()), if stderr.is_some() => News::Stderr,
            _ = writable(stdin.as_ref()), if stdin.is_some() => News::Stdin,
            () = something(exited.as_ref()), if end.is_none() => News::Exit,
            () = until(end.as_ref()), if end.is_some() => News::Exit,
        };
        match news {
            News::Stdout => read(&mut self.stdout, OutputStream::Stdout, &mut self.buffer, capture),
            News::Stderr => read(&mut self.stderr, OutputStream::Stderr, &mut self.buffer, capture),
            News::Stdin => self.feed(),
            News::Exit => self.look_for_the_end(),
        }
        None
    }

    fn look_for_the_end(&mut self) {
        if self.end.is_some() {
            return;
        }
        let ended = match self.child.try_wait() {
            Ok(None) => return,
            Ok(Some(end)) => ended(end),
            Err(error) => Ended {
                state: AgentState::Failed,
                exit: None,
                reason: Some(error.to_string()),
                tokens: None,
            },
        };
        self.stdin = None;
        self.end = Some((ended, Instant::now() + DRAIN));
    }

    /// Writes what there is room for. A program that reads no further is no mistake.
    fn feed(&mut self) {
        let Some(feed) = &mut self.stdin else { return };
        let rest = feed.task.get(feed.written..).unwrap_or_default();
        let is_over = match feed.pipe.try_write(rest) {
            _ if rest.is_empty() => true,
            Ok(written) => {
                feed.written += written;
                feed.written >= feed.task.len()
            }
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        };
        if is_over {
            self.stdin = None;
        }
    }
}

enum News {
    Stdout,
    Stderr,
    Stdin,
    Exit,
}

async fn readable(pipe: Option<&Receiver>) -> io::Result<()> {
    match pipe {
        Some(pipe) => pipe.readable().await,
        None => std::future::pending().await,
    }
}

async fn writable(feed: Option<&Feed>) -> io::Result<()> {
    match feed {
        Some(feed) => feed.pipe.writable().await,
        None => std::future::pending().await,
    }
}

async fn until(end: Option<&(Ended, Instant)>) {
    match end {
        Some((_, until)) => tokio::time::sleep_until(*until).await,
        None => std::future::pending().await,
    }
}

/// Waits until there may be something to hear of the child.
async fn something(exited: Option<&AsyncFd<OwnedFd>>) {
    let Some(exited) = exited else { return tokio::time::sleep(LOOK).await };
    match exited.readable().await {
        Ok(mut ready) => ready.clear_ready(),
        Err(_) => tokio::time::sleep(LOOK).await,
    }
}

/// Reads what is there, for a while.
fn read(
    pipe: &mut Option<Receiver>,
    stream: OutputStream,
    buffer: &mut Vec<u8>,
    capture: &mut Capture,
) {
    for _ in 0..TURN {
        let Some(open) = pipe else { return };
        match open.try_read(buffer) {
            Ok(0) => *pipe = None,
            Ok(length) => {
                capture.take(stream, buffer.get(..length).unwrap_or_default());
                if length == buffer.len() {
                    enlarge(open, buffer);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(error) => {
                capture.broken.get_or_insert_with(|| error.to_string());
                *pipe = None;
            }
        }
    }
}

/// A program that fills its pipe gets a larger one. Not every program, because a user has only so many
/// pages of pipes; it is a favour, and no need.
fn enlarge(pipe: &Receiver, buffer: &mut Vec<u8>) {
    if rustix::pipe::fcntl_getpipe_size(pipe).is_ok_and(|size| size < LARGE_PIPE) {
        let _ = rustix::pipe::fcntl_setpipe_size(pipe, LARGE_PIPE);
    }
    buffer.resize(LARGE_CHUNK, 0);
}

fn ended(end: End) -> Ended {
    let (state, exit, reason) = match end.outcome {
        Outcome::Code(0) => (AgentState::Exited, Some(ExitStatus::Code(0)), None),
        Outcome::Code(code) => {
            let reason = format!("it ended with exit code {code}");
            (AgentState::Failed, Some(ExitStatus::Code(code)), Some(reason))
        }
        Outcome::Signal(signal) => {
            let reason = format!("signal {signal} ended it");
            (AgentState::Failed, Some(ExitStatus::Signal(signal)), Some(reason))
        }
        Outcome::LimitExceeded(limit) => {
            (AgentState::Failed, None, Some(format!("it reached its limit of {limit}")))
        }
        other => (AgentState::Failed, None, Some(format!("{other:?}"))),
    };
    Ended { state, exit, reason, tokens: None }
}

#[expect(
    deprecated,
    reason = "an OwnedFd stays open for as long as it is registered, which is all that the unsafe \
              constructor asks for"
)]
fn register(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(descriptor, Interest::READABLE)
}
