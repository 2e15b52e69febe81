//! Lines as the messages of the protocol library, in both directions.
//!
//! A line that can't be taken is answered here; reading stops until that answer is written. The library
//! is given one message after another, and what it sends too late is not written.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, JsonRpcMessage,
        RequestId, ServerJsonRpcMessage, ServerNotification,
    },
    transport::Transport,
};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use super::{
    in_flight::InFlight,
    reader::{Line, LineReader},
};
use crate::intake::{self, Refusal};

/// How long running calls may still be answered after the input has ended, and how long an answer may
/// still be written after the server is told to stop.
const AFTER_END: Duration = Duration::from_secs(1);

type Writing = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// The two streams as lines of messages.
pub(super) struct Lines<R, W> {
    input: LineReader<R>,
    output: Arc<tokio::sync::Mutex<W>>,
    /// An answer that has to be written before anything more is read.
    answering: Option<Writing>,
    in_flight: Arc<Mutex<InFlight>>,
    has_begun: bool,
    stop: CancellationToken,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Messages of at most `max_line` bytes; `stop` is cancelled when nobody reads any more.
    pub(super) fn new(input: R, output: W, max_line: usize, stop: CancellationToken) -> Self {
        Self {
            input: LineReader::new(input, max_line),
            output: Arc::new(tokio::sync::Mutex::new(output)),
            answering: None,
            in_flight: Arc::default(),
            has_begun: false,
            stop,
        }
    }

    fn in_flight(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a line; where that fails nobody reads any more, and everything ends.
    fn write(&self, mut line: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, stop) = (Arc::clone(&self.output), self.stop.clone());
        async move {
            line.push(b'\n');
            let writing = async {
                let mut output = output.lock().await;
                output.write_all(&line).await?;
                output.flush().await
            };
            let written = tokio::select! {
                biased;
                written = writing => written,
                () = given_up(&stop) => Err(io::ErrorKind::TimedOut.into()),
            };
            if written.is_err() {
                stop.cancel();
            }
            written
        }
    }

    fn answer(&mut self, refusal: &Refusal) {
        self.answering = Some(Box::pin(self.write(refusal.to_json().into_bytes())));
    }

    /// What of a message is passed on.
    fn take(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &message {
            JsonRpcMessage::Request(request) => {
                let token = request.request.get_meta().get_progress_token();
                let begun = self.in_flight().begin(&request.id, token);
                if let Err(refusal) = begun {
                    self.answer(&refusal);
                    return None;
                }
                // What `ping` and `server/discover` get before a session has begun does not begin it.
                self.has_begun |= matches!(request.request, ClientRequest::InitializeRequest(_))
                    || request.request.get_meta().protocol_version().is_some();
                Some(message)
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.in_flight().cancel(id);
                }
                self.has_begun.then_some(message)
            }
            // An answer to what was never asked is dropped.
            JsonRpcMessage::Response(response) => {
                self.in_flight().was_asked(&response.id).then_some(message)
            }
            JsonRpcMessage::Error(error) => {
                let asked = error.id.as_ref().is_some_and(|id| self.in_flight().was_asked(id));
                asked.then_some(message)
            }
        }
    }

    /// The message of a line, where it has one that is passed on.
    fn message(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        match intake::message(line) {
            Ok(message) => self.take(message),
            Err(refusal) => {
                self.answer(&refusal);
                None
            }
        }
    }

    /// Whether a message is sent, and the id of the request that it answers.
    fn about_to_send(&self, message: &ServerJsonRpcMessage) -> (bool, Option<RequestId>) {
        let mut in_flight = self.in_flight();
        let answered = match message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Notification(notification) => {
                let is_sent = match &notification.notification {
                    ServerNotification::ProgressNotification(progress) => {
                        in_flight.is_watched(&progress.params.progress_token)
                    }
                    _ => true,
                };
                return (is_sent, None);
            }
            JsonRpcMessage::Request(request) => {
                in_flight.ask(request.id.clone());
                None
            }
        };
        if let Some(id) = &answered {
            in_flight.answer(id);
        }
        (true, answered)
    }

    fn at_end(&self) {
        let stop = self.stop.clone();
        tokio::spawn(async move {
            tokio::time::sleep(AFTER_END).await;
            stop.cancel();
        });
    }
}

/// Who does not read is not waited for when everything ends.
async fn given_up(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(AFTER_END).await;
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (is_sent, answered) = self.about_to_send(&message);
        let writing = serde_json::to_vec(&message).map(|line| self.write(line));
        let in_flight = Arc::clone(&self.in_flight);
        async move {
            if !is_sent {
                return Ok(());
            }
            let written = writing?.await;
            if let Some(id) = answered {
                in_flight.lock().unwrap_or_else(PoisonError::into_inner).end(&id);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(answering) = &mut self.answering {
                let written = answering.await;
                self.answering = None;
                if written.is_err() {
                    return None;
                }
            }
            match self.input.next().await {
                Ok(Line::Whole(line)) => {
                    if let Some(message) = self.message(&line) {
                        return Some(message);
                    }
                }
                Ok(Line::TooLong) => self.answer(&Refusal::too_long(self.input.max())),
                Ok(Line::End) => {
                    self.at_end();
                    return None;
                }
                Err(error) => {
                    tracing::warn!(%error, "the input can't be read");
                    self.at_end();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // It may be the next to write, and is never asked to again.
        self.answering = None;
        let flushed = async { self.output.lock().await.flush().await };
        tokio::time::timeout(AFTER_END, flushed).await.unwrap_or(Ok(()))
    }
}
