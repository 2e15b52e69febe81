//! The one door of a session's browser: an HTTP proxy that dials what the policy accepts.
//!
//! Its listener is on the loopback interface of the browser's own network, in which nothing else is, so
//! nobody but this browser can connect to it, and the browser can connect to nothing else. It needs no
//! password for that. Plain requests are taken apart and put together again by an HTTP library, each on a
//! connection of its own to the server; for everything else Chromium asks for a tunnel (`CONNECT`), also
//! for WebSockets. Names are resolved here: a browser without a network has no other way.
//!
//! It ends with the session: all its connections do.

mod forward;
mod tunnel;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::reach::Reach;
use crate::policy::DialError;

/// How many connections a browser may have at a time; more wait.
const CONNECTIONS: usize = 256;

/// The largest head of a request. Cookies and long URLs are in it.
const MAX_HEAD_BYTES: usize = 256 << 10;

/// What is answered.
type Body = Either<Incoming, Full<Bytes>>;

/// A running proxy; dropping it ends it.
#[derive(Debug)]
pub(super) struct Proxy {
    _ends: DropGuard,
}

impl Proxy {
    /// Serves a listener. Must be called within a runtime.
    ///
    /// # Errors
    /// The listener can't be waited for.
    pub(super) fn serve(listener: std::net::TcpListener, reach: Arc<Reach>) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let end = CancellationToken::new();
        let door = Door { reach, end: end.clone() };
        tokio::spawn(async move {
            tokio::select! {
                () = door.end.cancelled() => {}
                () = door.take_all(&listener) => {}
            }
        });
        Ok(Self { _ends: end.drop_guard() })
    }
}

/// What each connection is served with.
#[derive(Debug, Clone)]
struct Door {
    reach: Arc<Reach>,
    end: CancellationToken,
}

impl Door {
    async fn take_all(&self, listener: &TcpListener) {
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        while let Ok(permit) = Arc::clone(&room).acquire_owned().await {
            // An error is about one connection that is gone again.
            let Ok((stream, _)) = listener.accept().await else { continue };
            let door = self.clone();
            tokio::spawn(async move {
                door.clone().serve(stream).await;
                drop(permit);
            });
        }
    }

    /// Serves one connection until either side ends it.
    async fn serve(self, stream: TcpStream) {
        let end = self.end.clone();
        let answer = service_fn(|request| self.answer(request));
        let connection = hyper::server::conn::http1::Builder::new()
            .max_buf_size(MAX_HEAD_BYTES)
            .preserve_header_case(true)
            .serve_connection(TokioIo::new(stream), answer)
            .with_upgrades();
        tokio::select! {
            () = end.cancelled() => {}
            // Chromium ending a connection in the middle is nothing to tell.
            _ = connection => {}
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let asked = asked_for(&request);
        let answer = if request.method() == Method::CONNECT {
            tunnel::open(self, request).await
        } else {
            forward::forward(self, request).await
        };
        Ok(answer.unwrap_or_else(|problem| self.refuse(&asked, problem)))
    }

    /// The answer where there is no connection.
    fn refuse(&self, asked: &str, problem: Problem) -> Response<Body> {
        let status = problem.status();
        let text = problem.to_string();
        if let Problem::Dial(DialError::Refused(refusal)) = problem {
            self.reach.note(asked, refusal);
        }
        tracing::debug!(asked, text, "no connection for a page");
        let mut response = Response::new(Either::Right(Full::new(Bytes::from(text))));
        *response.status_mut() = status;
        response
    }
}

/// Host and port of a request, for the list of what was refused: no path, which may hold a secret.
fn asked_for(request: &Request<Incoming>) -> String {
    request.uri().authority().map(ToString::to_string).unwrap_or_default()
}

/// Why a request was not carried out.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("not a request that a proxy takes")]
    Malformed,
    #[error(transparent)]
    Dial(#[from] DialError),
    #[error("the server broke the connection or does not speak HTTP: {0}")]
    Server(#[from] hyper::Error),
}

impl Problem {
    fn status(&self) -> StatusCode {
        match self {
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::Dial(DialError::Refused(_)) => StatusCode::FORBIDDEN,
            Self::Dial(DialError::Timeout { .. }) => StatusCode::GATEWAY_TIMEOUT,
            Self::Dial(_) | Self::Server(_) => StatusCode::BAD_GATEWAY,
        }
    }
}
