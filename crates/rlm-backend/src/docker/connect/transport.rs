//! HTTP over whatever reaches the engine, for its client.
//!
//! A request has a connection of its own; where connections are costly, those that a request has left
//! are used again. A request that a kept connection could not take is sent once more on a new one, and
//! only if not a byte of it was sent. A connection that was upgraded belongs to whoever upgraded it.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use bollard::{BollardRequest, errors::Error};
use hyper::{
    Request, Response, Uri,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
    header::{HOST, HeaderValue},
};
use hyper_util::rt::TokioIo;

use super::dial::Dialer;

/// How many connections are kept.
const MAX_KEPT: usize = 4;

/// The body of a request of the engine's client, which has no name of its own.
type Body = <BollardRequest as HasBody>::Body;

trait HasBody {
    type Body;
}

impl<B> HasBody for Request<B> {
    type Body = B;
}

/// Sends requests to one engine.
pub(super) struct Transport {
    dialer: Dialer,
    kept: Mutex<Vec<SendRequest<Body>>>,
}

impl Transport {
    pub(super) fn new(dialer: Dialer) -> Arc<Self> {
        Arc::new(Self { dialer, kept: Mutex::default() })
    }

    /// Sends one, and gives the head of the answer.
    pub(super) async fn send(
        self: Arc<Self>,
        request: BollardRequest,
    ) -> Result<Response<Incoming>, Error> {
        let mut request = as_for_a_server(request)?;
        while let Some(mut sender) = self.take() {
            match sender.try_send_request(request).await {
                Ok(response) => {
                    self.keep(sender);
                    return Ok(response);
                }
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(error.into_error().into()),
                },
            }
        }
        let connection = self.dialer.dial().await?;
        let ssh = connection.ssh;
        let sent = async {
            let (mut sender, driven) = http1::handshake(TokioIo::new(connection.stream)).await?;
            tokio::spawn(async move {
                if let Err(error) = driven.with_upgrades().await {
                    tracing::debug!(%error, "a connection to the engine broke");
                }
            });
            Ok((sender.send_request(request).await?, sender))
        };
        let sent: Result<_, hyper::Error> = sent.await;
        match (sent, ssh) {
            (Ok((response, sender)), _) => {
                self.keep(sender);
                Ok(response)
            }
            (Err(error), None) => Err(error.into()),
            (Err(error), Some(ssh)) => {
                let why = tokio::task::spawn_blocking(move || ssh.why()).await.ok().flatten();
                Err(why.map_or(error.into(), |why| io::Error::other(format!("ssh: {why}")).into()))
            }
        }
    }

    fn take(&self) -> Option<SendRequest<Body>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(sender) = kept.pop() {
            if sender.is_ready() {
                return Some(sender);
            }
        }
        None
    }

    /// Keeps a connection once its answer was read to its end, if it is worth it.
    fn keep(self: &Arc<Self>, mut sender: SendRequest<Body>) {
        if !self.dialer.is_costly() {
            return;
        }
        let transport: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            if sender.ready().await.is_err() {
                return;
            }
            let Some(transport) = transport.upgrade() else { return };
            let mut kept = transport.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() < MAX_KEPT {
                kept.push(sender);
            }
        });
    }
}

/// A request that was made for a proxy, made for a server: its path alone, and a host that is none.
fn as_for_a_server(request: BollardRequest) -> Result<BollardRequest, Error> {
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = path.parse::<Uri>()?;
    head.headers.insert(HOST, HeaderValue::from_static("docker"));
    Ok(BollardRequest::from_parts(head, body))
}
