//! One request and the head of its answer, over a connection of its own.

use std::{net::SocketAddr, time::Duration};

use http::{HeaderValue, Request, StatusCode, Uri, header, response::Parts};
use http_body_util::Full;
use hyper::{
    body::{Bytes, Incoming},
    client::conn::http1,
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::JoinHandle,
    time::{Instant, timeout_at},
};
use url::{Position, Url};

use super::{
    FetchError, Phase,
    counted::{Allowance, Counted, UsedUp},
    encodings,
    redirect::Step,
    tls::Tls,
};
use crate::{DialError, Dialer};

/// The most headers of an answer.
const MAX_HEADERS: usize = 100;

/// What holds for every exchange.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) dialer: Dialer,
    pub(super) tls: Tls,
    pub(super) user_agent: HeaderValue,
    pub(super) connect_timeout: Duration,
    pub(super) first_byte_timeout: Duration,
    pub(super) max_header_bytes: usize,
}

/// An answer whose body is still to be read.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) head: Parts,
    pub(super) body: Incoming,
    pub(super) address: SocketAddr,
    _connection: Connection,
}

/// The task that drives a connection; it ends with this.
#[derive(Debug)]
struct Connection(JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Exchange {
    /// Sends a request and waits for the head of its answer.
    pub(super) async fn open(
        &self,
        step: &Step,
        cookies: Option<HeaderValue>,
        is_document: bool,
        deadline: Instant,
    ) -> Result<Opened, FetchError> {
        let host = step.url.host_str().unwrap_or_default();
        let request = self.request(step, cookies, is_document)?;
        let until = deadline.min(Instant::now() + self.connect_timeout);
        let (stream, address) =
            within(host, Phase::Connect, until, self.connect(&step.url)).await?;
        let until = deadline.min(Instant::now() + self.first_byte_timeout);
        let (head, body, connection) =
            within(host, Phase::Head, until, self.send(host, stream, request)).await?;
        Ok(Opened { head, body, address, _connection: connection })
    }

    async fn connect(&self, url: &Url) -> Result<(Box<dyn Stream>, SocketAddr), FetchError> {
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        let dialed = self.dialer.dial(host, port).await.map_err(|error| match error {
            DialError::Timeout { host, within } => {
                FetchError::TimedOut { host, phase: Phase::Connect, after: within }
            }
            other => other.into(),
        })?;
        if url.scheme() != "https" {
            return Ok((Box::new(dialed.stream), dialed.address));
        }
        let secure = self.tls.connect(host, dialed.stream).await;
        let host = host.to_owned();
        let secure = secure.map_err(|message| FetchError::Tls { host, message })?;
        Ok((Box::new(secure), dialed.address))
    }

    async fn send(
        &self,
        host: &str,
        stream: Box<dyn Stream>,
        request: Request<Full<Bytes>>,
    ) -> Result<(Parts, Incoming, Connection), FetchError> {
        let failed = |error: hyper::Error| self.failed(host, &error);
        let max = u64::try_from(self.max_header_bytes).unwrap_or(u64::MAX);
        // What is read beside the head is at most one buffer of the body's beginning.
        let allowance = Allowance::new(max.saturating_mul(2));
        let io = TokioIo::new(Counted::new(stream, allowance.clone()));
        let (mut sender, connection) = http1::Builder::new()
            .max_buf_size(self.max_header_bytes)
            .max_headers(MAX_HEADERS)
            .handshake(io)
            .await
            .map_err(failed)?;
        let driving = tokio::spawn(async move {
            // What goes wrong is told to whoever reads.
            let _told = connection.await;
        });
        let connection = Connection(driving);
        let response = sender.send_request(request).await.map_err(failed)?;
        allowance.lift();
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            let message = "it switches to another protocol without being asked".to_owned();
            return Err(FetchError::Protocol { host: host.to_owned(), message });
        }
        let (head, body) = response.into_parts();
        Ok((head, body, connection))
    }

    fn failed(&self, host: &str, error: &hyper::Error) -> FetchError {
        let host = host.to_owned();
        let is_used_up =
            std::iter::successors(std::error::Error::source(error), |error| (*error).source()).any(
                |error| {
                    let inner =
                        error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
                    error.is::<UsedUp>() || inner.is_some_and(|inner| inner.is::<UsedUp>())
                },
            );
        if error.is_parse_too_large() || is_used_up {
            let max_bytes = u64::try_from(self.max_header_bytes).unwrap_or(u64::MAX);
            return FetchError::HeadTooLarge { host, max_bytes };
        }
        if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
            return FetchError::Closed { host };
        }
        FetchError::Protocol { host, message: chain(error) }
    }

    fn request(
        &self,
        step: &Step,
        cookies: Option<HeaderValue>,
        is_document: bool,
    ) -> Result<Request<Full<Bytes>>, FetchError> {
        let machine = |message: String| FetchError::Machine { message };
        let target: Uri = target(&step.url)
            .parse()
            .map_err(|error: http::uri::InvalidUri| machine(error.to_string()))?;
        let authority = &step.url[Position::BeforeHost..Position::AfterPort];
        let host = HeaderValue::try_from(authority).map_err(|error| machine(error.to_string()))?;
        let body = Full::new(step.body.clone().unwrap_or_default());
        let mut request = Request::new(body);
        *request.method_mut() = step.method.clone();
        *request.uri_mut() = target;
        let headers = request.headers_mut();
        headers.insert(header::HOST, host);
        headers.insert(header::USER_AGENT, self.user_agent.clone());
        let accept = if is_document {
            "text/html,application/xhtml+xml,text/markdown;q=0.9,application/xml;q=0.9,*/*;q=0.8"
        } else {
            "*/*"
        };
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        if let Some(cookies) = cookies {
            headers.insert(header::COOKIE, cookies);
        }
        // A name that the caller set replaces ours, and all its values are sent.
        for name in step.headers.keys() {
            headers.remove(name);
        }
        for (name, value) in &step.headers {
            headers.append(name, value.clone());
        }
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(encodings::OFFERED));
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        Ok(request)
    }
}

/// A connection, secure or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for S {}

/// Path and query as they are asked for. What `url` leaves as it is and `http` refuses is encoded.
fn target(url: &Url) -> String {
    let mut text = String::new();
    for c in url[Position::BeforePath..Position::AfterQuery].chars() {
        match c {
            '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' => {
                text.push_str(&format!("%{:02X}", u32::from(c)));
            }
            c => text.push(c),
        }
    }
    text
}

/// Waits no longer than until then.
pub(super) async fn within<T>(
    host: &str,
    phase: Phase,
    until: Instant,
    what: impl Future<Output = Result<T, FetchError>>,
) -> Result<T, FetchError> {
    let started = Instant::now();
    timeout_at(until, what).await.unwrap_or_else(|_| {
        let after = until.saturating_duration_since(started);
        Err(FetchError::TimedOut { host: host.to_owned(), phase, after })
    })
}

/// An error with its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_url_gives_a_target_that_can_be_sent() {
        for text in [
            "http://a.example/",
            "http://a.example?x",
            "http://a.example/a|b^c{d}`e\"f<g>h?i|j{k}`l^m\\n",
            "http://a.example/[x]?[y]='z'",
            "http://a.example/ä?ö",
            "http://a.example/%zz%",
        ] {
            let url = Url::parse(text).unwrap();
            let target = target(&url);
            assert!(target.starts_with('/'), "{target}");
            assert!(target.parse::<Uri>().is_ok(), "{target}");
        }
    }
}
