//! Two streams, of which each line is a message: standard input and output, or a socket.
//!
//! A line is bounded, and one that can't be taken is answered. Reading stops while an answer to such a
//! line can't be written, so a client that only sends is not served without end. When the input ends,
//! calls that run get a short while to be answered; then they are cancelled, and the sessions end.

#[cfg(test)]
#[path = "../../fuzz/src/bodies.rs"]
mod bodies;
mod in_flight;
mod reader;
#[cfg(test)]
mod seeds;
mod transport;

use std::sync::Arc;

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use self::transport::Lines;
use crate::{connection::Connection, handler::Handler};

/// What is added to the ceiling of arguments for the rest of a message.
const BESIDE_ARGUMENTS: usize = 1024 * 1024;

/// Why serving on two streams ended.
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
pub(crate) async fn serve<R, W>(
    connection: &Arc<Connection>,
    input: R,
    output: W,
    stop: CancellationToken,
) -> Result<(), StdioError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let max_args =
        connection.world().map_or(0, |world| world.sandbox.limits().max_args().as_usize());
    let stop = stop.child_token();
    let transport = Lines::new(input, output, 2 * max_args + BESIDE_ARGUMENTS, stop.clone());
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
