//! Streamable HTTP at `/mcp`: who may ask, how much, and from where; the protocol is the library's.
//!
//! In this order: the bearer token (401), the rate and the number of sessions (429, 503), `Host` and
//! `Origin` (403, against DNS rebinding), the size of the body (413), and the message itself (400).
//! Nothing of a request is read before its token is right. Each session of the protocol has a sandbox
//! of its own, which ends when the client deletes the session or leaves it idle; requests without a
//! session, which the newest revision has, share one.

mod rate;
mod token;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::State,
    http::{HeaderMap, Method, Request, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
    routing::any,
};
use rmcp::{
    model::Extensions,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::rate::Rate;
pub use self::token::{Token, TokenError};
use crate::{
    handler::Handler,
    intake::{self, CallArguments, Refusal},
    server::Server,
};

/// The header that names a session of the protocol.
const SESSION: &str = "mcp-session-id";
/// How long open streams may take to end when the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// The bounds of the HTTP server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpConfig {
    /// Names, beside those of this machine's loopback, that a `Host` header may have.
    pub hosts: Vec<String>,
    /// Values that an `Origin` header may have, such as `https://app.example:443`. A request without
    /// one is no request of a web page, and passes.
    pub origins: Vec<String>,
    /// The most bytes of a request's body.
    pub max_body: usize,
    /// The most sessions at once.
    pub max_sessions: usize,
    /// How long a session may be idle.
    pub idle: Duration,
    /// The most requests in a second, over all clients; twice as many may come at once.
    pub max_per_second: u32,
}

impl Default for HttpConfig {
    /// 4 MiB, 256 sessions, 30 minutes, 1000 requests a second.
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            max_body: 4 * 1024 * 1024,
            max_sessions: 256,
            idle: Duration::from_secs(30 * 60),
            max_per_second: 1000,
        }
    }
}

/// Why HTTP is not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The socket is broken.
    #[error("HTTP can't be served: {0}")]
    Socket(#[from] std::io::Error),
}

/// What travels beside a request: what the library does not pass on.
#[derive(Debug, Clone)]
pub(crate) struct Beside {
    pub(crate) has_session: bool,
    pub(crate) arguments: CallArguments,
}

impl Beside {
    /// Of the request that a handler is called for; none on standard streams.
    pub(crate) fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get::<Parts>()?.extensions.get()
    }
}

/// What every request needs.
struct Door {
    token: Token,
    rate: Rate,
    max_body: usize,
    max_sessions: usize,
    sessions: Arc<LocalSessionManager>,
    service: StreamableHttpService<Handler, LocalSessionManager>,
}

/// Serves until `stop`.
pub(crate) async fn serve(
    server: &Server,
    listener: TcpListener,
    config: HttpConfig,
    token: Token,
    stop: CancellationToken,
) -> Result<(), HttpError> {
    let address = listener.local_addr()?;
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(config.idle);
    let sessions = Arc::new(sessions);
    let common = server.connection();
    let made = server.clone();
    let service = StreamableHttpService::new(
        move || Ok(Handler::new(made.connection(), Arc::clone(&common))),
        Arc::clone(&sessions),
        library(address, &config, stop.child_token()),
    );
    let door = Arc::new(Door {
        token,
        rate: Rate::new(config.max_per_second),
        max_body: config.max_body,
        max_sessions: config.max_sessions,
        sessions,
        service,
    });
    let router = Router::new().route("/mcp", any(answer)).with_state(door);
    let serving =
        axum::serve(listener, router).with_graceful_shutdown(stop.clone().cancelled_owned());
    tokio::select! {
        served = async { serving.await } => Ok(served?),
        () = late(&stop) => Ok(()),
    }
}

/// What the library itself checks.
fn library(
    address: SocketAddr,
    config: &HttpConfig,
    stop: CancellationToken,
) -> StreamableHttpServerConfig {
    let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let own = (!address.ip().is_unspecified()).then(|| address.ip().to_string());
    let hosts = loopback.into_iter().chain(own).chain(config.hosts.iter().cloned());
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(config.origins.iter().cloned())
        .enforce_origin_validation()
        .with_max_request_body_bytes(config.max_body)
        .with_cancellation_token(stop)
}

async fn late(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(GRACE).await;
}

async fn answer(State(door): State<Arc<Door>>, request: Request<Body>) -> Response {
    match door.check(request).await {
        Ok(request) => door.service.handle(request).await.map(Body::new).into_response(),
        Err(refused) => *refused,
    }
}

type Refused = Box<Response>;

impl Door {
    /// The request as the library is to see it.
    async fn check(&self, request: Request<Body>) -> Result<Request<Body>, Refused> {
        if !self.token.is_borne_by(request.headers()) {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
            return Err(refused((StatusCode::UNAUTHORIZED, challenge, "a bearer token is needed")));
        }
        if !self.rate.takes_one() {
            let wait = [(header::RETRY_AFTER, "1")];
            return Err(refused((StatusCode::TOO_MANY_REQUESTS, wait, "too many requests")));
        }
        let (mut parts, body) = request.into_parts();
        let has_session = parts.headers.contains_key(SESSION);
        let mut beside = Beside { has_session, arguments: CallArguments::default() };
        if parts.method != Method::POST {
            parts.extensions.insert(beside);
            return Ok(Request::from_parts(parts, body));
        }
        let body = self.body(body).await?;
        if !has_session && intake::is_initialize(&body) {
            self.check_sessions().await?;
        }
        let (body, arguments) = intake::body(&body).map_err(|refusal| unreadable(&refusal))?;
        beside.arguments = arguments;
        with_length(&mut parts.headers, body.len());
        parts.extensions.insert(beside);
        Ok(Request::from_parts(parts, Body::from(body)))
    }

    async fn body(&self, body: Body) -> Result<Bytes, Refused> {
        to_bytes(body, self.max_body).await.map_err(|_| {
            let text = format!("the body can't be read, or has more than {} bytes", self.max_body);
            refused((StatusCode::PAYLOAD_TOO_LARGE, text))
        })
    }

    async fn check_sessions(&self) -> Result<(), Refused> {
        if self.sessions.sessions.read().await.len() < self.max_sessions {
            return Ok(());
        }
        let wait = [(header::RETRY_AFTER, "10")];
        Err(refused((StatusCode::SERVICE_UNAVAILABLE, wait, "there are too many sessions")))
    }
}

fn refused(response: impl IntoResponse) -> Refused {
    Box::new(response.into_response())
}

fn unreadable(refusal: &Refusal) -> Refused {
    let json = [(header::CONTENT_TYPE, "application/json")];
    refused((StatusCode::BAD_REQUEST, json, refusal.to_json()))
}

/// The body was written anew, so its length is another.
fn with_length(headers: &mut HeaderMap, length: usize) {
    headers.remove(header::TRANSFER_ENCODING);
    headers.insert(header::CONTENT_LENGTH, length.into());
}
