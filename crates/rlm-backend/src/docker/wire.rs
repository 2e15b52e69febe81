//! The host's end of the stream to a supervisor: who is told what comes over it.
//!
//! One task writes frames, one reads them. Nothing is waited for while a frame is handed on: what a
//! driver says is kept until its pipes have room, as much as the supervisor may send before it hears
//! that it was taken. When the stream ends, or breaks the protocol, everybody who waits is told so.

use std::{
    collections::HashMap,
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bollard::container::{AttachContainerResults, LogOutput};
use futures_util::{Stream, StreamExt as _};
use serde::Deserialize;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    runtime::Handle,
    sync::{mpsc, oneshot, watch},
};
use tool_core::ExitStatus;

use super::{
    driver::{DriverEnd, Told},
    frames::{Decoder, Frame, Said},
    request::{Answered, Request},
};

/// How many frames may wait to be written.
const WAITING: usize = 64;
/// How long the engine may refuse to take bytes.
const WRITE: Duration = Duration::from_secs(30);
/// How much is written at once.
const BATCH: usize = 128 << 10;
/// How much of what a container says beside the protocol is kept.
const MAX_STRAY: usize = 4 << 10;

/// Why a container can be used no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loss {
    /// In words.
    pub(super) why: String,
    /// The limit that ended it, where one did.
    pub(super) limit: Option<&'static str>,
}

/// What a supervisor says first.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Hello {
    /// It met the host at the socket that is mounted.
    pub(super) shared: bool,
    /// What the image lacks.
    pub(super) missing: Vec<String>,
}

/// The stream to one supervisor.
#[derive(Debug)]
pub(super) struct Wire {
    frames: mpsc::Sender<Frame>,
    handle: Handle,
    state: Mutex<State>,
    lost: watch::Sender<Option<Loss>>,
}

#[derive(Debug, Default)]
struct State {
    hello: Option<oneshot::Sender<Hello>>,
    drivers: HashMap<u32, DriverEnd>,
    requests: HashMap<u32, Request>,
    stray: Vec<u8>,
    last: u32,
}

type Output = Pin<Box<dyn Stream<Item = Result<LogOutput, bollard::errors::Error>> + Send>>;

impl Wire {
    /// Takes a container's stream; `why` is asked for the reason once it has ended. Gives what the
    /// supervisor says first.
    pub(super) fn begin<F>(
        stream: AttachContainerResults,
        handle: Handle,
        why: impl FnOnce(String) -> F + Send + 'static,
    ) -> (Arc<Self>, oneshot::Receiver<Hello>)
    where
        F: Future<Output = Loss> + Send,
    {
        let (frames, waiting) = mpsc::channel(WAITING);
        let (greet, greeted) = oneshot::channel();
        let state = Mutex::new(State { hello: Some(greet), ..State::default() });
        let wire = Arc::new(Self { frames, handle, state, lost: watch::Sender::new(None) });
        let AttachContainerResults { output, input } = stream;
        let (reading, handle) = (Arc::clone(&wire), wire.handle.clone());
        handle.spawn(async move {
            let writing = write(waiting, input);
            tokio::pin!(writing);
            let ended = tokio::select! {
                ended = reading.read(output) => ended,
                // A stream that takes nothing has ended, whatever it gives.
                () = &mut writing => "it takes no more".to_owned(),
            };
            tracing::debug!(ended, stray = reading.stray(), "the stream to a container has ended");
            let loss = why(ended).await;
            reading.lose(loss);
        });
        (wire, greeted)
    }

    /// Where tasks of this stream run.
    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the container can be used no more, where it can't.
    pub(super) fn loss(&self) -> Option<Loss> {
        self.lost.borrow().clone()
    }

    /// Sends a frame when there is room; lost with the stream.
    pub(super) async fn send(&self, frame: Frame) {
        // Whoever waits for an answer is told of the loss.
        let _ = self.frames.send(frame).await;
    }

    /// The same without waiting, in the order of the calls where there is room.
    pub(super) fn post(self: &Arc<Self>, frame: Frame) {
        if let Err(mpsc::error::TrySendError::Full(frame)) = self.frames.try_send(frame) {
            let wire = Arc::clone(self);
            self.handle.spawn(async move { wire.send(frame).await });
        }
    }

    /// What the container says beside the protocol: the words of whatever failed in it.
    pub(super) fn stray(&self) -> String {
        String::from_utf8_lossy(&self.state().stray).trim().to_owned()
    }

    /// A number for a driver or a request.
    pub(super) fn number(&self) -> u32 {
        let mut state = self.state();
        state.last += 1;
        state.last
    }

    /// Has a driver told of from now on.
    pub(super) fn add_driver(&self, number: u32, end: DriverEnd) {
        self.state().drivers.insert(number, end);
        // The loss may have come before that.
        if let Some(loss) = self.loss() {
            let end = self.state().drivers.remove(&number);
            end.into_iter().for_each(|end| end.lost(&loss, &self.handle));
        }
    }

    /// Has a request answered; the answer comes to whoever made it.
    pub(super) fn add_request(&self, number: u32, request: Request) {
        self.state().requests.insert(number, request);
        if let Some(loss) = self.loss() {
            let request = self.state().requests.remove(&number);
            let error = || io::Error::other(loss.why.clone());
            request.into_iter().for_each(|request| request.end(Err(error())));
        }
    }

    async fn read(&self, mut output: Output) -> String {
        let mut decoder = Decoder::default();
        while let Some(read) = output.next().await {
            match read {
                Ok(LogOutput::StdOut { message }) => {
                    decoder.push(&message);
                    if !self.take_all(&mut decoder) {
                        return "it does not keep to the protocol".to_owned();
                    }
                }
                Ok(other) => self.keep_stray(other.as_ref()),
                Err(error) => return error.to_string(),
            }
        }
        "it ended".to_owned()
    }

    fn keep_stray(&self, bytes: &[u8]) {
        let stray = &mut self.state().stray;
        stray.extend_from_slice(bytes);
        let left_out = stray.len().saturating_sub(MAX_STRAY);
        stray.drain(..left_out);
    }

    /// Hands on what is whole; says whether the stream can be believed further.
    fn take_all(&self, decoder: &mut Decoder) -> bool {
        loop {
            match decoder.next() {
                Ok(None) => return true,
                Ok(Some(said)) => {
                    if !self.take(said) {
                        return false;
                    }
                }
                Err(_) => return false,
            }
        }
    }

    fn take(&self, said: Said) -> bool {
        let mut state = self.state();
        match said {
            Said::Hello(json) => {
                let hello = serde_json::from_slice(&json).ok();
                match (state.hello.take(), hello) {
                    // Who asked may not wait any more.
                    (Some(greet), Some(hello)) => drop(greet.send(hello)),
                    _ => return false,
                }
            }
            Said::Wrote { driver, channel, bytes } => {
                let driver = state.drivers.get(&driver);
                return driver.is_none_or(|driver| driver.wrote(channel, bytes));
            }
            Said::Ended { driver, how } => {
                let (Some(end), Some(told)) = (state.drivers.remove(&driver), Told::read(&how))
                else {
                    return true;
                };
                drop(state);
                end.ended(told, &self.handle);
            }
            Said::Piece { request, bytes } => {
                let request = state.requests.get_mut(&request);
                return request.is_none_or(|request| request.piece(&bytes));
            }
            Said::Answer { request, json } => {
                if let Some(request) = state.requests.remove(&request) {
                    request.end(Answered::read(&json));
                }
            }
        }
        true
    }

    /// Everybody is told that it is over.
    fn lose(&self, loss: Loss) {
        self.lost.send_replace(Some(loss.clone()));
        let mut state = self.state();
        let drivers = std::mem::take(&mut state.drivers);
        let requests = std::mem::take(&mut state.requests);
        state.hello = None;
        drop(state);
        drivers.into_values().for_each(|driver| driver.lost(&loss, &self.handle));
        let error = || io::Error::other(loss.why.clone());
        requests.into_values().for_each(|request| request.end(Err(error())));
    }

    /// Waits until the container is lost.
    pub(super) async fn lost(&self) {
        // The sender is this one's own.
        let _ = self.lost.subscribe().wait_for(Option::is_some).await;
    }
}

/// Writes frames until nobody sends any more, or the stream takes none.
async fn write(mut frames: mpsc::Receiver<Frame>, mut input: Pin<Box<dyn AsyncWrite + Send>>) {
    while let Some(frame) = frames.recv().await {
        let mut batch = frame.bytes().to_vec();
        while batch.len() < BATCH {
            let Ok(frame) = frames.try_recv() else { break };
            batch.extend_from_slice(frame.bytes());
        }
        let written = tokio::time::timeout(WRITE, async {
            input.write_all(&batch).await?;
            input.flush().await
        });
        if !matches!(written.await, Ok(Ok(()))) {
            return;
        }
    }
    // The supervisor ends when its input does.
    let _ = input.shutdown().await;
}

/// How a driver of a container that was lost is said to have ended.
pub(super) const GONE: ExitStatus = ExitStatus::Signal(9);
