//! Standard input and output: one message a line, read and written here, spoken by the library.
//!
//! A line is bounded, and one that can't be taken is answered. Reading stops while an answer to such a
//! line can't be written, so a client that only sends is not served without end. When the input ends,
//! calls that run get a short while to be answered; then they are cancelled, and the sessions end.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, JsonRpcMessage,
        ProgressToken, RequestId, ServerJsonRpcMessage, ServerNotification,
    },
    service::{ServerInitializeError, serve_server_with_ct},
    transport::{StdioReader, StdioWriter, Transport, stdio_pipes},
};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;

use crate::{
    connection::Connection,
    handler::Handler,
    intake::{self, Refusal},
};

/// What is added to the ceiling of arguments for the rest of a message.
const BESIDE_ARGUMENTS: usize = 1024 * 1024;
/// How many requests may wait for their answer to be written.
const MAX_IN_FLIGHT: usize = 256;
/// How many ids of cancelled requests are remembered, so that none of them is taken again.
const MAX_CANCELLED: usize = 1024;
/// How long running calls may still be answered after the input has ended.
const AFTER_END: Duration = Duration::from_secs(1);

/// Why serving on standard streams ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// The client did not begin as the protocol asks.
    #[error("the client did not begin a session: {0}")]
    Began(String),
    /// The task that serves has failed.
    #[error("serving has failed: {0}")]
    Failed(String),
}

/// Serves one client.
pub(crate) async fn serve(
    connection: &Arc<Connection>,
    stop: CancellationToken,
) -> Result<(), StdioError> {
    let max_args =
        connection.world().map_or(0, |world| world.sandbox.limits().max_args().as_usize());
    let stop = stop.child_token();
    let transport = Lines::new(stop.clone(), 2 * max_args + BESIDE_ARGUMENTS);
    let handler = Handler::new(Arc::clone(connection), Arc::clone(connection));
    let began = Box::pin(serve_server_with_ct(handler, transport, stop.clone())).await;
    let running = match began {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(error) => return Err(StdioError::Began(error.to_string())),
    };
    let ended = running.waiting().await;
    stop.cancel();
    ended.map(|_| ()).map_err(|error| StdioError::Failed(error.to_string()))
}

/// The requests that are not answered yet.
#[derive(Debug, Default)]
struct InFlight {
    requests: HashMap<RequestId, Option<ProgressToken>>,
    /// What the client is asked and has not answered.
    asked: HashSet<RequestId>,
    cancelled: VecDeque<RequestId>,
}

impl InFlight {
    /// Takes a request, or says why not.
    fn begin(&mut self, id: &RequestId, token: Option<ProgressToken>) -> Result<(), Refusal> {
        if self.requests.contains_key(id) || self.cancelled.contains(id) {
            let text = format!("the id {} is in use", id.clone().into_json_value());
            return Err(Refusal::without_id(-32600, tool_core::clip(&text, 200)));
        }
        if self.requests.len() >= MAX_IN_FLIGHT {
            let text = format!("more than {MAX_IN_FLIGHT} requests at once");
            return Err(Refusal::of_request(id.clone(), text));
        }
        self.requests.insert(id.clone(), token);
        Ok(())
    }

    fn cancel(&mut self, id: &RequestId) {
        if self.requests.remove(id).is_some() {
            if self.cancelled.len() == MAX_CANCELLED {
                self.cancelled.pop_front();
            }
            self.cancelled.push_back(id.clone());
        }
    }

    /// Whether this is the first answer to something that the client is asked.
    fn was_asked(&mut self, id: &RequestId) -> bool {
        self.asked.remove(id)
    }

    fn is_watched(&self, token: &ProgressToken) -> bool {
        self.requests.values().any(|known| known.as_ref() == Some(token))
    }
}

type Writing = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// The two streams as lines of messages.
struct Lines {
    input: BufReader<StdioReader>,
    line: Vec<u8>,
    /// Whether the rest of the line is skipped, because it is too long.
    is_skipping: bool,
    max_line: usize,
    output: Arc<tokio::sync::Mutex<StdioWriter>>,
    /// An answer that has to be written before anything more is read.
    answering: Option<Writing>,
    in_flight: Arc<Mutex<InFlight>>,
    has_begun: bool,
    stop: CancellationToken,
}

/// What a read of a line gave.
enum Line {
    Whole(Vec<u8>),
    TooLong,
    End,
}

impl Lines {
    fn new(stop: CancellationToken, max_line: usize) -> Self {
        let (reader, writer) = stdio_pipes();
        Self {
            input: BufReader::new(reader),
            line: Vec::new(),
            is_skipping: false,
            max_line,
            output: Arc::new(tokio::sync::Mutex::new(writer)),
            answering: None,
            in_flight: Arc::default(),
            has_begun: false,
            stop,
        }
    }

    /// The next line. May be dropped and called again at any time.
    async fn next_line(&mut self) -> io::Result<Line> {
        loop {
            let chunk = self.input.fill_buf().await?;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let is_end = chunk.is_empty();
            let taken = end.map_or(chunk.len(), |end| end + 1);
            if !self.is_skipping {
                self.line.extend_from_slice(&chunk[..end.unwrap_or(taken)]);
                self.is_skipping = self.line.len() > self.max_line;
            }
            self.input.consume(taken);
            if end.is_none() && !is_end {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if std::mem::take(&mut self.is_skipping) {
                return Ok(Line::TooLong);
            }
            if is_end && line.is_empty() {
                return Ok(Line::End);
            }
            return Ok(Line::Whole(line));
        }
    }

    /// Writes a line; where that fails nobody reads any more, and everything ends.
    fn write(&self, mut line: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, stop) = (Arc::clone(&self.output), self.stop.clone());
        async move {
            line.push(b'\n');
            let mut output = output.lock().await;
            let written = match output.write_all(&line).await {
                Ok(()) => output.flush().await,
                failed => failed,
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
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        match &message {
            JsonRpcMessage::Request(request) => {
                let token = request.request.get_meta().get_progress_token();
                if let Err(refusal) = in_flight.begin(&request.id, token) {
                    drop(in_flight);
                    self.answer(&refusal);
                    return None;
                }
                // What `ping` and `server/discover` get before a session has begun does not begin it.
                self.has_begun |= matches!(request.request, ClientRequest::InitializeRequest(_))
                    || request.request.get_meta().protocol_version().is_some();
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    in_flight.cancel(id);
                }
                if !self.has_begun {
                    return None;
                }
            }
            JsonRpcMessage::Response(response) => {
                return in_flight.was_asked(&response.id).then_some(message);
            }
            JsonRpcMessage::Error(error) => {
                let was_asked = error.id.as_ref().is_some_and(|id| in_flight.was_asked(id));
                return was_asked.then_some(message);
            }
        }
        Some(message)
    }

    fn at_end(&self) {
        let stop = self.stop.clone();
        tokio::spawn(async move {
            tokio::time::sleep(AFTER_END).await;
            stop.cancel();
        });
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answered = None;
        let is_late = match &message {
            JsonRpcMessage::Response(response) => {
                answered = Some(response.id.clone());
                false
            }
            JsonRpcMessage::Error(error) => {
                answered.clone_from(&error.id);
                false
            }
            JsonRpcMessage::Notification(notification) => match &notification.notification {
                ServerNotification::ProgressNotification(progress) => {
                    !in_flight.is_watched(&progress.params.progress_token)
                }
                _ => false,
            },
            JsonRpcMessage::Request(request) => {
                in_flight.asked.insert(request.id.clone());
                false
            }
        };
        // From here on no progress of it is sent; its id stays in use until the answer is written.
        if let Some(token) = answered.as_ref().and_then(|id| in_flight.requests.get_mut(id)) {
            *token = None;
        }
        drop(in_flight);
        let line = serde_json::to_vec(&message);
        let (in_flight, writing) = (Arc::clone(&self.in_flight), |line| self.write(line));
        let writing = line.map(writing);
        async move {
            if is_late {
                return Ok(());
            }
            let written = writing?.await;
            if let Some(id) = answered {
                in_flight.lock().unwrap_or_else(PoisonError::into_inner).requests.remove(&id);
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
            let line = match self.next_line().await {
                Ok(Line::End) => {
                    self.at_end();
                    return None;
                }
                Ok(Line::TooLong) => {
                    self.answer(&Refusal::too_long(self.max_line));
                    continue;
                }
                Ok(Line::Whole(line)) => line,
                Err(error) => {
                    tracing::warn!(%error, "standard input can't be read");
                    self.at_end();
                    return None;
                }
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match intake::message(&line) {
                Err(refusal) => self.answer(&refusal),
                Ok(message) => {
                    if let Some(message) = self.take(message) {
                        return Some(message);
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.flush().await
    }
}
