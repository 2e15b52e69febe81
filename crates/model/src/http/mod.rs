//! Requests to a provider over HTTP: one body out, one reply back, with retries and deadlines.
//!
//! [`Endpoint::chat`] posts a body and reads the answer with a [`Wire`], whole or as events. It
//! guarantees:
//!
//! - one timeout over all attempts, and one for every silence of the server;
//! - no more than [`MAX_BODY`] bytes of an answer are ever held;
//! - once a piece of a reply was passed on, no second attempt is made, so nothing is heard twice;
//! - no redirect is followed and no proxy used that was not asked for, so the key goes to the address
//!   that the operator wrote, and nowhere else;
//! - every error is made by a [`Reporter`], which takes the key out, and every log line holds only such
//!   errors.

mod address;
mod client;
mod fault;
mod options;
mod reporter;
mod retry;
mod sse;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

use reqwest::{
    Response, Url,
    header::{CONTENT_TYPE, HeaderMap},
};
use tokio::time::{Instant, timeout};

use self::{
    reporter::Reporter,
    retry::{RetryPolicy, retry_after},
};
use crate::{ChatReply, Delta, Dialect, ModelError};

pub(crate) use self::{
    fault::{Fault, message_of},
    sse::SseEvent,
};
pub use options::HttpOptions;

/// The most bytes of one answer.
const MAX_BODY: usize = 8 * 1024 * 1024;

/// The most bytes of an error's answer that are read.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// Hears the pieces of a reply.
pub(crate) type OnDelta<'a> = &'a (dyn Fn(Delta) + Send + Sync);

/// Reads the answers of a vendor.
pub(crate) trait Wire: Send + Sync {
    /// A reply from a whole body.
    fn whole(&self, body: &str) -> Result<ChatReply, Fault>;

    /// A reply from events.
    fn collector(&self) -> Box<dyn Collector + '_>;
}

/// Puts a reply together from events.
pub(crate) trait Collector: Send {
    /// Takes one event; `true` when it was the last.
    fn take(&mut self, event: &SseEvent, on_delta: OnDelta<'_>) -> Result<bool, Fault>;

    /// The reply, if it was whole.
    fn finish(self: Box<Self>, on_delta: OnDelta<'_>) -> Result<ChatReply, Fault>;
}

/// One API of one provider.
#[derive(Debug)]
pub(crate) struct Endpoint {
    reporter: Reporter,
    client: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    timeout: Duration,
    idle_timeout: Duration,
    retries: RetryPolicy,
}

impl Endpoint {
    /// Prepares a client; contacts nobody.
    ///
    /// # Errors
    /// [`ModelError::Config`] for a bad address, proxy or timeout.
    pub(crate) fn new(dialect: Dialect, options: &HttpOptions) -> Result<Self, ModelError> {
        if options.timeout.is_zero() || options.idle_timeout.is_zero() {
            return Err(ModelError::Config("a timeout is zero".to_owned()));
        }
        if options.model.trim().is_empty() {
            return Err(ModelError::Config("the model has no name".to_owned()));
        }
        let url = address::api_address(dialect, &options.url)?;
        let name = match dialect {
            Dialect::OpenAi => "openai",
            Dialect::Anthropic => "anthropic",
        };
        let host = url.host_str().unwrap_or_default();
        if options.key.is_some() && client::is_in_the_open(&url) {
            tracing::warn!(host, "the model's key travels without encryption; use https");
        }
        Ok(Self {
            reporter: Reporter { provider: format!("{name} at {host}"), key: options.key.clone() },
            client: client::client(options)?,
            headers: client::headers(dialect, options.key.as_ref())?,
            timeout: options.timeout,
            idle_timeout: options.idle_timeout,
            retries: RetryPolicy {
                max_retries: options.max_retries,
                first_pause: options.first_pause,
            },
            url,
        })
    }

    /// Whether requests go to this host.
    pub(crate) fn is_at(&self, host: &str) -> bool {
        self.url.host_str() == Some(host)
    }

    /// Posts `body` and reads the reply.
    pub(crate) async fn chat(
        &self,
        body: &[u8],
        wire: &dyn Wire,
        on_delta: OnDelta<'_>,
    ) -> Result<ChatReply, ModelError> {
        match timeout(self.timeout, self.with_retries(body, wire, on_delta)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.reporter.timed_out(self.timeout)),
        }
    }

    async fn with_retries(
        &self,
        body: &[u8],
        wire: &dyn Wire,
        on_delta: OnDelta<'_>,
    ) -> Result<ChatReply, ModelError> {
        let begun = Instant::now();
        let is_heard = AtomicBool::new(false);
        let heard = |delta| {
            is_heard.store(true, Ordering::Relaxed);
            on_delta(delta);
        };
        let mut attempt = 0;
        loop {
            let error = match self.attempt(body, wire, &heard).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let pause = self.retries.pause_after(attempt, &error);
            // A pause that reaches the deadline would only hide the error behind a timeout.
            let left = self.timeout.saturating_sub(begun.elapsed());
            match pause.filter(|pause| *pause < left && !is_heard.load(Ordering::Relaxed)) {
                None => return Err(error),
                Some(pause) => {
                    tracing::warn!(%error, attempt, ?pause, "a model request failed, trying again");
                    tokio::time::sleep(pause).await;
                    attempt += 1;
                }
            }
        }
    }

    async fn attempt(
        &self,
        body: &[u8],
        wire: &dyn Wire,
        on_delta: OnDelta<'_>,
    ) -> Result<ChatReply, ModelError> {
        tracing::debug!(provider = self.reporter.provider, bytes = body.len(), "asking a model");
        let request = self.client.post(self.url.clone());
        let request = request.headers(self.headers.clone()).body(body.to_vec());
        let response = self.within_patience(request.send()).await?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        if is_event_stream(&response) {
            self.read_events(response, wire.collector(), on_delta).await
        } else {
            let body = self.read_whole(response).await?;
            let body = str::from_utf8(&body).map_err(|error| {
                self.reporter
                    .nonsense(&format!("the body is not UTF-8 at byte {}", error.valid_up_to()))
            })?;
            wire.whole(body).map_err(|fault| self.reporter.error_of(fault))
        }
    }

    async fn read_events(
        &self,
        mut response: Response,
        mut collector: Box<dyn Collector + '_>,
        on_delta: OnDelta<'_>,
    ) -> Result<ChatReply, ModelError> {
        let mut reader = sse::SseReader::default();
        let mut size = 0;
        while let Some(piece) = self.within_patience(response.chunk()).await? {
            size += piece.len();
            self.check_size(size)?;
            let events =
                reader.push(&piece).map_err(|error| self.reporter.nonsense(&error.to_string()))?;
            for event in events {
                if collector
                    .take(&event, on_delta)
                    .map_err(|fault| self.reporter.error_of(fault))?
                {
                    return collector
                        .finish(on_delta)
                        .map_err(|fault| self.reporter.error_of(fault));
                }
            }
        }
        if let Some(event) =
            reader.finish().map_err(|error| self.reporter.nonsense(&error.to_string()))?
        {
            collector.take(&event, on_delta).map_err(|fault| self.reporter.error_of(fault))?;
        }
        collector.finish(on_delta).map_err(|fault| self.reporter.error_of(fault))
    }

    async fn read_whole(&self, mut response: Response) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        while let Some(piece) = self.within_patience(response.chunk()).await? {
            self.check_size(body.len() + piece.len())?;
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    fn check_size(&self, size: usize) -> Result<(), ModelError> {
        match size > MAX_BODY {
            true => {
                Err(self.reporter.nonsense(&format!("the answer is longer than {MAX_BODY} bytes")))
            }
            false => Ok(()),
        }
    }

    /// The error that a status other than 2xx means, with as much of its body as is worth reading.
    async fn refused(&self, mut response: Response) -> ModelError {
        let status = response.status();
        let retry_after = retry_after(response.headers(), SystemTime::now());
        let mut body = Vec::new();
        while body.len() < MAX_ERROR_BODY {
            match self.within_patience(response.chunk()).await {
                Ok(Some(piece)) => body.extend_from_slice(&piece),
                Ok(None) | Err(_) => break,
            }
        }
        body.truncate(MAX_ERROR_BODY);
        let mut message = message_of(&String::from_utf8_lossy(&body));
        if status.is_redirection() {
            message = "a redirect, and redirects are not followed".to_owned();
        } else if message.is_empty() {
            message = status.canonical_reason().unwrap_or("no message").to_owned();
        }
        self.reporter.status_error(status.as_u16(), &message, retry_after)
    }

    /// Waits for the server no longer than it may be silent.
    async fn within_patience<T>(
        &self,
        step: impl Future<Output = Result<T, reqwest::Error>>,
    ) -> Result<T, ModelError> {
        match timeout(self.idle_timeout, step).await {
            Ok(outcome) => outcome.map_err(|error| self.reporter.transport(error)),
            Err(_) => Err(self.reporter.timed_out(self.idle_timeout)),
        }
    }
}

fn is_event_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}

#[cfg(test)]
pub(crate) mod testing {
    //! Reading bytes of a stream that ended in order, without a server.

    use super::{Collector, Fault, sse::SseReader};
    use crate::ChatReply;

    /// What a collector makes of `bytes`.
    pub(crate) fn collect(
        mut collector: Box<dyn Collector + '_>,
        bytes: &[u8],
    ) -> Result<ChatReply, Fault> {
        let not_utf8 = |error: super::sse::NotUtf8| Fault::Nonsense(error.to_string());
        let mut reader = SseReader::default();
        let mut events = reader.push(bytes).map_err(not_utf8)?;
        events.extend(reader.finish().map_err(not_utf8)?);
        for event in events {
            if collector.take(&event, &|_| {})? {
                break;
            }
        }
        collector.finish(&|_| {})
    }
}
