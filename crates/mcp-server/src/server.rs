//! The server: where its tools come from, and the clients that are connected.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{Peer, RoleServer};
use sandbox::ToolSandbox;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tool_core::ProgressSink;

use crate::{
    catalogue::Catalogue,
    connection::{Connection, World},
    http::{self, HttpConfig, HttpError, Token},
    progress::ProgressHub,
    stdio::{self, StdioError},
};

/// Makes the sandbox of a connection: its tools, its scope, its limits, its trail.
pub trait Source: fmt::Debug + Send + Sync + 'static {
    /// A sandbox for one connection, made with [`ToolSandbox::with_progress`]. Sessions in it end when
    /// it is dropped, so nobody else may keep it.
    ///
    /// # Errors
    /// What the operator has to change.
    fn open(&self, progress: Arc<dyn ProgressSink>) -> Result<Arc<ToolSandbox>, SourceError>;
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
        server.shared.open(&Arc::default())?;
        Ok(server)
    }

    /// Serves one client on standard input and output, until it closes them or `stop` is cancelled.
    /// Nothing else may use the two.
    ///
    /// # Errors
    /// The client did not begin as the protocol asks, or the streams are broken.
    pub async fn serve_stdio(&self, stop: CancellationToken) -> Result<(), StdioError> {
        stdio::serve(&self.connection(), stop).await
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

    /// Says that the source has changed. Every connection takes its tools anew at its next request,
    /// with new sessions, and is told that the list has changed; calls that run end as they would.
    pub async fn reload(&self) {
        self.shared.generation.send_modify(|generation| *generation += 1);
        let peers = self.shared.connected();
        for peer in peers {
            // Whoever does not read is not waited for.
            let told = peer.notify_tool_list_changed();
            let told = tokio::time::timeout(std::time::Duration::from_secs(1), told).await;
            if !matches!(told, Ok(Ok(()))) {
                tracing::debug!("a client was not told that the tools have changed");
            }
        }
    }

    pub(crate) fn connection(&self) -> Arc<Connection> {
        Arc::new(Connection::new(Arc::clone(&self.shared)))
    }
}

impl Shared {
    pub(crate) fn generation(&self) -> u64 {
        *self.generation.borrow()
    }

    /// Makes what a connection works with.
    pub(crate) fn open(&self, hub: &Arc<ProgressHub>) -> Result<World, SourceError> {
        let sandbox = self.source.open(Arc::clone(hub) as _)?;
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
