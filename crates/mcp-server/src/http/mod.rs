//! Streamable HTTP at `/mcp`: who may ask, how much, and from where; the protocol is the library's.
//!
//! In this order: the bearer token (401), the rate, the number of requests and of sessions (429, 503),
//! the size of the body (413), the message itself (400), and `Host` and `Origin` (403, against DNS
//! rebinding). Nothing of a request is read before its token is right. Each session of the protocol
//! has a sandbox of its own, which ends when the client deletes the session or leaves it idle; requests
//! without a session, which the newest revision has, share one.

mod door;
mod held;
mod rate;
mod token;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, http::request::Parts, routing::any, serve::ListenerExt};
use rmcp::{
    model::Extensions,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::door::Door;
pub use self::token::{Token, TokenError};
use crate::{handler::Handler, intake::CallArguments, server::Server};

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
    /// The most requests that are not answered yet, open streams among them.
    pub max_in_flight: usize,
    /// How long a session may be idle.
    pub idle: Duration,
    /// The most requests in a second, over all clients; twice as many may come at once.
    pub max_per_second: u32,
    /// The same for one client: a session, or an address where there is no session.
    pub max_per_second_each: u32,
}

impl Default for HttpConfig {
    /// 4 MiB, 256 sessions, 1024 requests in flight, 30 minutes, 1000 requests a second and 250 of
    /// one client.
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            max_body: 4 * 1024 * 1024,
            max_sessions: 256,
            max_in_flight: 1024,
            idle: Duration::from_secs(30 * 60),
            max_per_second: 1000,
            max_per_second_each: 250,
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

/// Serves until `stop`.
pub(crate) async fn serve(
    server: &Server,
    listener: TcpListener,
    mut config: HttpConfig,
    token: Token,
    stop: CancellationToken,
) -> Result<(), HttpError> {
    with_own_names(&mut config, listener.local_addr()?);
    // An answer goes out in pieces, and none of them waits for the client to say it has the last one.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection answers later than it could");
        }
    });
    let router = router(server, &config, token, &stop);
    let router = router.into_make_service_with_connect_info::<SocketAddr>();
    let serving =
        axum::serve(listener, router).with_graceful_shutdown(stop.clone().cancelled_owned());
    tokio::select! {
        served = async { serving.await } => Ok(served?),
        () = late(&stop) => Ok(()),
    }
}

/// The routes. Who listens decides about addresses; the address of a client is taken from axum's
/// `ConnectInfo<SocketAddr>`, where it is there.
pub(crate) fn router(
    server: &Server,
    config: &HttpConfig,
    token: Token,
    stop: &CancellationToken,
) -> Router {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(config.idle);
    let sessions = Arc::new(sessions);
    let common = server.connection();
    let made = server.clone();
    let service = StreamableHttpService::new(
        move || Ok(Handler::new(made.connection(), Arc::clone(&common))),
        Arc::clone(&sessions),
        library(config, stop.child_token()),
    );
    let door = Arc::new(Door::new(config, token, sessions, service));
    Router::new().route("/mcp", any(door::answer)).with_state(door)
}

/// The names by which this machine reaches the address are allowed. A page of such an origin would be
/// one that this server gave, and it gives none.
fn with_own_names(config: &mut HttpConfig, address: SocketAddr) {
    let (port, mut names) = (address.port(), vec!["localhost".to_owned()]);
    if address.ip().is_unspecified() {
        names.extend(["127.0.0.1".to_owned(), "[::1]".to_owned()]);
    } else {
        config.hosts.push(address.ip().to_string());
        names.push(SocketAddr::new(address.ip(), 0).to_string().trim_end_matches(":0").to_owned());
    }
    config.origins.extend(names.iter().map(|name| format!("http://{name}:{port}")));
}

/// What the library itself checks.
fn library(config: &HttpConfig, stop: CancellationToken) -> StreamableHttpServerConfig {
    let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let hosts = loopback.into_iter().chain(config.hosts.iter().cloned());
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
