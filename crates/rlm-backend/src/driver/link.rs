//! One driver, from its start to its end: the state that calls share.

use std::{fmt, sync::Arc, time::Duration};

use serde_json::Value;
use thiserror::Error;
use tool_core::ExitStatus;

use super::{
    Background, DriverProcess, HostCalls,
    control::Control,
    quick::{self, Pace},
};
use crate::{
    language::Language,
    output::{OutputStream, OutputWatcher},
    protocol::{Event, Request},
};

/// Bounds and waits of a link.
#[derive(Debug, Clone)]
pub struct LinkConfig {
    /// How many bytes of each stream of a call are kept.
    pub max_output_bytes: usize,
    /// The longest line of a driver, in bytes.
    pub max_line_bytes: usize,
    /// The longest code of a call, in bytes.
    pub max_code_bytes: usize,
    /// How long interrupted code may take to end before it is killed.
    pub grace: Duration,
    /// How many calls back to the host may run at once.
    pub max_host_calls: usize,
    /// The first interpreter's number.
    pub generation: u64,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            max_output_bytes: 64 << 10,
            max_line_bytes: 16 << 20,
            max_code_bytes: 16 << 20,
            grace: Duration::from_secs(2),
            max_host_calls: 64,
            generation: 1,
        }
    }
}

/// Why a call was not run at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CallError {
    /// The driver is gone, or a call was dropped before its end; a new driver is needed.
    #[error("the session is lost; start a new one")]
    Lost,
    /// The code is longer than the link takes.
    #[error("the code has {bytes} bytes, more than the {max} that are allowed")]
    TooLong {
        /// Bytes of the code.
        bytes: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// Bash cannot hold a NUL byte in a command.
    #[error("the command holds a NUL byte, which bash cannot run")]
    Nul,
}

/// The host's end of one driver process.
///
/// It owns the process: dropping the link drops it. Between calls the owner should poll
/// [`DriverLink::attend`], so that what runs in the background does not wait on a full pipe.
pub struct DriverLink {
    pub(super) language: Language,
    pub(super) process: Box<dyn DriverProcess>,
    pub(super) control: Control,
    pub(super) stdout: OutputStream,
    pub(super) stderr: OutputStream,
    pub(super) host_calls: Arc<dyn HostCalls>,
    pub(super) config: LinkConfig,
    pub(super) token: String,
    pub(super) version: String,
    pub(super) generation: u64,
    pub(super) last_id: u64,
    pub(super) health: Health,
    pub(super) watcher: Option<Arc<dyn OutputWatcher>>,
    pub(super) pace: Pace,
}

/// What can be done with a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// It waits for a call.
    Idle,
    /// A call runs, or was dropped while it ran.
    Busy,
    /// The process is gone or was given up.
    Lost,
}

impl fmt::Debug for DriverLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DriverLink")
            .field("language", &self.language)
            .field("version", &self.version)
            .field("generation", &self.generation)
            .field("health", &self.health)
            .finish_non_exhaustive()
    }
}

impl DriverLink {
    /// The interpreter's version, for example `3.11.2`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The number of the interpreter that runs now.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether the session can take no more calls.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.health == Health::Lost
    }

    /// Shows the output of calls while they run to a watcher, or to nobody, from the next call on.
    ///
    /// What is printed between calls is not shown.
    pub fn watch(&mut self, watcher: Option<Arc<dyn OutputWatcher>>) {
        self.watcher = watcher;
    }

    /// Sets how long interrupted code may take from now on.
    pub(crate) fn set_grace(&mut self, grace: Duration) {
        self.config.grace = grace;
    }

    /// Between calls: takes in what background work prints. Returns when the process has ended. Cancel
    /// safe.
    ///
    /// A driver says nothing between calls, so nobody listens to it.
    pub async fn attend(&mut self) -> ExitStatus {
        loop {
            tokio::select! {
                status = self.process.ended() => {
                    self.health = Health::Lost;
                    return status;
                }
                () = self.stdout.fill() => {}
                () = self.stderr.fill() => {}
            }
        }
    }

    /// What was printed since the last call, and was not taken yet. It stays there for the next call.
    pub fn background(&mut self) -> Background {
        self.drain();
        Background { stdout: self.stdout.kept(), stderr: self.stderr.kept() }
    }

    /// The same, taken out: the next call does not give it again.
    pub fn take_background(&mut self) -> Background {
        self.drain();
        Background { stdout: self.stdout.take(), stderr: self.stderr.take() }
    }

    /// Takes in what is in the output pipes.
    pub(super) fn drain(&mut self) {
        let in_pipes = [&self.stdout, &self.stderr].map(|stream| stream.source());
        let [out, err] = quick::ready(in_pipes, Duration::ZERO);
        if out {
            self.stdout.drain();
        }
        if err {
            self.stderr.drain();
        }
    }

    pub(super) fn send(&mut self, request: &Request<'_>) {
        if let Some(bytes) = self.language.encode(request) {
            self.control.send(&bytes);
        }
    }

    pub(super) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn answer(&mut self, seq: u64, result: Result<Value, String>) {
        let (value, error) = match result {
            Ok(value) => (Some(value), None),
            Err(error) => (None, Some(error)),
        };
        self.send(&Request::Reply { seq, value, error });
    }

    /// A call to the host that belongs to no running call is refused; the rest is dropped.
    pub(super) fn refuse_stray(&mut self, event: &Event) {
        if let Event::Call { seq, .. } = event {
            self.answer(*seq, Err("the call that asked has ended".to_owned()));
        }
    }

    /// Checks that a request can be sent, and marks the link as busy until it is answered.
    pub(super) fn begin(&mut self) -> Result<(), CallError> {
        if self.health == Health::Busy {
            self.process.kill();
            self.health = Health::Lost;
        }
        if self.health == Health::Lost {
            return Err(CallError::Lost);
        }
        self.health = Health::Busy;
        Ok(())
    }
}
