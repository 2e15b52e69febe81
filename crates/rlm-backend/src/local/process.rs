//! Power over a confined driver, for its link.

use std::{
    io,
    os::fd::OwnedFd,
    sync::{Arc, OnceLock},
    time::Duration,
};

use confine::{Child, End, Outcome};
use tokio::io::{Interest, unix::AsyncFd};
use tool_core::{BoxFuture, ExitStatus};

use crate::DriverProcess;

/// How often an end is looked for where the event loop can't tell of it.
const LOOK: Duration = Duration::from_millis(20);
/// What a process is said to have ended by where the kernel can't be asked.
const KILLED: ExitStatus = ExitStatus::Signal(9);

/// A confined process. Dropping it ends its whole tree.
#[derive(Debug)]
pub(super) struct Confined {
    child: Child,
    limit: Arc<OnceLock<String>>,
    /// Made by the first wait, because it belongs to that wait's event loop.
    readable: Option<AsyncFd<OwnedFd>>,
    ended: Option<ExitStatus>,
}

impl Confined {
    /// Takes a child; `limit` is told the limit that ended it.
    pub(super) fn new(child: Child, limit: Arc<OnceLock<String>>) -> Self {
        Self { child, limit, readable: None, ended: None }
    }

    async fn wait(&mut self) -> ExitStatus {
        if let Some(status) = self.ended {
            return status;
        }
        let status = loop {
            self.something().await;
            match self.child.try_wait() {
                Ok(Some(end)) => break self.status(end),
                Ok(None) => {}
                Err(_) => break KILLED,
            }
        };
        self.ended = Some(status);
        status
    }

    /// Waits until there may be something to hear of the child.
    async fn something(&mut self) {
        if self.readable.is_none() {
            // What is there already is told once the descriptor is registered.
            self.readable = self.child.descriptor().try_clone_to_owned().and_then(register).ok();
        }
        let Some(readable) = &self.readable else { return tokio::time::sleep(LOOK).await };
        match readable.readable().await {
            Ok(mut ready) => ready.clear_ready(),
            Err(_) => tokio::time::sleep(LOOK).await,
        }
    }

    fn status(&self, end: End) -> ExitStatus {
        match end.outcome {
            Outcome::Code(code) => ExitStatus::Code(code),
            Outcome::Signal(signal) => ExitStatus::Signal(signal),
            Outcome::LimitExceeded(limit) => {
                self.limit.get_or_init(|| limit.to_string());
                KILLED
            }
            _ => KILLED,
        }
    }
}

#[expect(
    deprecated,
    reason = "an OwnedFd stays open for as long as it is registered, which is all that the unsafe \
              constructor asks for"
)]
fn register(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(descriptor, Interest::READABLE)
}

impl DriverProcess for Confined {
    fn interrupt(&mut self) {
        self.child.interrupt();
    }

    fn kill(&mut self) {
        self.child.kill();
    }

    fn ended(&mut self) -> BoxFuture<'_, ExitStatus> {
        Box::pin(self.wait())
    }
}
