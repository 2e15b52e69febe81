//! The server: where its tools come from, and the clients that are connected.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{Peer, RoleServer};
use sandbox::{Approver, ToolSandbox};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tool_core::ProgressSink;

use crate::{
    catalogue::Catalogue,
    connection::{Connection, World},
    http::{self, HttpConfig, HttpError, Token},
    progress::ProgressHub,
    stdio::{self, StdioError},
};

/// How long telling one client of a reload may take.
const TELLING: Duration = Duration::from_secs(1);

/// Makes the sandbox of a connection: its tools, its scope, its limits, its trail.
pub trait Source: fmt::Debug + Send + Sync + 'static {
    /// A sandbox for one connection. Sessions in it end when it is dropped, so nobody else may keep it.
    ///
    /// # Errors
    /// What the operator has to change.
    fn open(&self, client: Client) -> Result<Arc<ToolSandbox>, SourceError>;
}

/// What a sandbox may use of the client that it is made for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Client {
    /// Shows the client what its calls do; for [`ToolSandbox::with_progress`].
    pub progress: Arc<dyn ProgressSink>,
    /// Asks the person behind the client, where there is one; for [`ToolSandbox::with_approval`].
    pub approver: Arc<dyn Approver>,
}

/// Why there are no tools for a connection.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    message: String,
}

impl SourceError {
    /// An error with a text for the operator.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Serves the tools of a source. Cheap to clone; clones are the same server.
#[derive(Debug, Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

/// What all connections share.
pub(crate) struct Shared {
    source: Arc<dyn Source>,
    /// Counts the reloads; a connection opens its sandbox anew when it has changed.
    generation: watch::Sender<u64>,
    peers: Mutex<Vec<Peer<RoleServer>>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("source", &self.source).finish_non_exhaustive()
    }
}

impl Server {
    /// A server of these tools.
    ///
    /// # Errors
    /// The source has none, or two of them have one name.
    pub fn new(source: Arc<dyn Source>) -> Result<Self, SourceError> {
        let shared = Shared { source, generation: watch::Sender::new(0), peers: Mutex::default() };
        let server = Self { shared: Arc::new(shared) };
        let nobody = Client {
            progress: Arc::<ProgressHub>::default(),
            approver: Arc::<crate::ask::Desk>::default(),
        };
        server.shared.open(nobody)?;
        Ok(server)
    }

    /// Serves one client on standard input and output, until it closes them or `stop` is cancelled.
    /// Nothing else may use the two.
    ///
    /// # Errors
    /// The client did not begin as the protocol asks, or the streams are broken.
    pub async fn serve_stdio(&self, stop: CancellationToken) -> Result<(), StdioError> {
        let (input, output) = rmcp::transport::stdio_pipes();
        stdio::serve(&self.connection(), input, output, stop).await
    }

    /// The same on two other streams: the halves of a socket, say.
    ///
    /// # Errors
    /// The client did not begin as the protocol asks, or the streams are broken.
    pub async fn serve_streams(
        &self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        stop: CancellationToken,
    ) -> Result<(), StdioError> {
        stdio::serve(&self.connection(), input, output, stop).await
    }

    /// Serves many clients over streamable HTTP at `/mcp`, until `stop` is cancelled.
    ///
    /// # Errors
    /// An address that can't be served safely, or not at all.
    pub async fn serve_http(
        &self,
        listener: tokio::net::TcpListener,
        config: HttpConfig,
        token: Token,
        stop: CancellationToken,
    ) -> Result<(), HttpError> {
        http::serve(self, listener, config, token, stop).await
    }

    /// What [`Self::serve_http`] serves, for a program that listens itself: behind TLS, or beside other
    /// routes. Such a program names the hosts it is reached by in `config`, and gives axum's
    /// `ConnectInfo<SocketAddr>` with each request, where clients are to be told apart.
    pub fn http_router(
        &self,
        config: &HttpConfig,
        token: Token,
        stop: &CancellationToken,
    ) -> axum::Router {
        http::router(self, config, token, stop)
    }

    /// Says that the source has changed. Every connection takes its tools anew at its next request,
    /// with new sessions, and is told that the list has changed; calls that run end as they would.
    pub async fn reload(&self) {
        // Those that listen are told by their own tasks.
        self.shared.generation.send_modify(|generation| *generation += 1);
        let mut telling = JoinSet::new();
        for peer in self.shared.connected() {
            telling.spawn(async move {
                // Whoever does not read is not waited for.
                let told = timeout(TELLING, peer.notify_tool_list_changed()).await;
                if !matches!(told, Ok(Ok(()))) {
                    tracing::debug!("a client was not told that the tools have changed");
                }
            });
        }
        telling.join_all().await;
    }

    pub(crate) fn connection(&self) -> Arc<Connection> {
        Arc::new(Connection::new(Arc::clone(&self.shared)))
    }
}

impl Shared {
    pub(crate) fn generation(&self) -> u64 {
        *self.generation.borrow()
    }

    /// Wakes whoever wants to know of reloads.
    pub(crate) fn reloads(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    /// Makes what a connection works with.
    pub(crate) fn open(&self, client: Client) -> Result<World, SourceError> {
        let sandbox = self.source.open(client)?;
        let existing = sandbox.registry().list().map(|tool| tool.spec());
        let catalogue = Catalogue::new(&sandbox.offered(), existing)
            .map_err(|error| SourceError::new(error.to_string()))?;
        Ok(World { sandbox, catalogue })
    }

    /// Remembers a client that wants to hear of changes.
    pub(crate) fn add(&self, peer: Peer<RoleServer>) {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| !peer.is_transport_closed());
        peers.push(peer);
    }

    fn connected(&self) -> Vec<Peer<RoleServer>> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| !peer.is_transport_closed());
        peers.clone()
    }
}
