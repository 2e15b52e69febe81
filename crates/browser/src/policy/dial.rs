//! From a host to a connection, through the policy.
//!
//! A name is resolved once for a connection; one answer that the policy refuses refuses them all, so a
//! name can't be used to find out which of its addresses is open. What is dialled is an address that was
//! judged, and the peer of the connection is compared with it.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{net::TcpStream, time::timeout};
use url::Host;

use super::{Refusal, Resolve, UrlPolicy, tunnel};
use crate::{BrowserConfig, BrowserConfigError};

/// The most addresses of one name that are tried.
const MAX_ADDRESSES: usize = 8;

/// Opens connections to what a policy accepts. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Dialer {
    policy: Arc<UrlPolicy>,
    resolver: Arc<dyn Resolve>,
    timeout: Duration,
    proxy: Option<(String, u16)>,
}

/// A connection to an address that was judged.
#[derive(Debug)]
pub struct Dialed {
    /// The connection.
    pub stream: TcpStream,
    /// The address that the policy accepted: the peer, or, with an operator's proxy, what the proxy
    /// was asked for.
    pub address: SocketAddr,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialError {
    /// The policy refuses it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The name can't be resolved.
    #[error("the host {host:?} can't be resolved")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver says.
        source: io::Error,
    },
    /// The name has no address.
    #[error("the host {host:?} has no address")]
    NoAddress {
        /// The name.
        host: String,
    },
    /// No address took the connection.
    #[error("the host {host:?} can't be reached: {source}")]
    Connect {
        /// The host.
        host: String,
        /// What the last try met.
        source: io::Error,
    },
    /// It took too long.
    #[error("the host {host:?} did not take a connection within {} ms", within.as_millis())]
    Timeout {
        /// The host.
        host: String,
        /// The time that it had.
        within: Duration,
    },
    /// The connection leads elsewhere than it was asked to.
    #[error("the connection to {host:?} has another peer than the one that was accepted")]
    Peer {
        /// The host.
        host: String,
    },
    /// The operator's proxy.
    #[error("the proxy: {message}")]
    Proxy {
        /// What is wrong.
        message: String,
    },
}

impl Dialer {
    /// Dials what a policy accepts, with names resolved by `resolver`, each within `timeout`.
    #[must_use]
    pub fn new(policy: Arc<UrlPolicy>, resolver: Arc<dyn Resolve>, timeout: Duration) -> Self {
        Self { policy, resolver, timeout, proxy: None }
    }

    /// Dials what a configuration accepts.
    ///
    /// # Errors
    /// A value that can't be used.
    pub fn of_config(
        config: &BrowserConfig,
        resolver: Arc<dyn Resolve>,
    ) -> Result<Self, BrowserConfigError> {
        let policy = Arc::new(config.policy()?);
        let dialer = Self::new(policy, resolver, Duration::from_millis(config.connect_timeout_ms));
        Ok(match config.proxy_address()? {
            Some((host, port)) => dialer.with_proxy(host, port),
            None => dialer,
        })
    }

    /// The same through an operator's proxy, which is asked by `CONNECT` for the address that was
    /// judged. The proxy itself is the operator's word, and is not judged.
    #[must_use]
    pub fn with_proxy(mut self, host: String, port: u16) -> Self {
        self.proxy = Some((host, port));
        self
    }

    /// The policy that it asks.
    #[must_use]
    pub fn policy(&self) -> &UrlPolicy {
        &self.policy
    }

    /// Connects to a host, as a URL writes it (`example.com`, `192.0.2.1`, `[2001:db8::1]`), and a port.
    ///
    /// # Errors
    /// A refusal, or no connection.
    pub async fn dial(&self, host: &str, port: u16) -> Result<Dialed, DialError> {
        let within = self.timeout;
        let dialling = self.dial_unbounded(host, port);
        timeout(within, dialling)
            .await
            .unwrap_or_else(|_| Err(DialError::Timeout { host: host.to_owned(), within }))
    }

    async fn dial_unbounded(&self, host: &str, port: u16) -> Result<Dialed, DialError> {
        let addresses = self.resolve(host, port).await?;
        let tries = u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
        let mut last = None;
        for address in addresses {
            // Each gets its share, so that one that is silent does not take the others' time.
            let connecting = timeout(self.timeout / tries, self.connect(address));
            match connecting.await {
                Ok(Ok(stream)) => {
                    self.check_peer(host, &stream, address)?;
                    return Ok(Dialed { stream, address });
                }
                Ok(Err(error)) => last = Some(error),
                Err(_) => last = Some(Failed::Io(io::ErrorKind::TimedOut.into())),
            }
        }
        let host = host.to_owned();
        Err(match last {
            Some(Failed::Io(source)) => DialError::Connect { host, source },
            Some(Failed::Proxy(message)) => DialError::Proxy { message },
            None => DialError::NoAddress { host },
        })
    }

    /// The addresses of a host, all of them accepted.
    ///
    /// # Errors
    /// A refusal of the host or of one of its addresses; a name that can't be resolved.
    pub async fn resolve(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, DialError> {
        let parsed =
            Host::parse(host).map_err(|error| Refusal::Malformed { problem: error.to_string() })?;
        let borrowed = borrowed(&parsed);
        self.policy.check_host(&borrowed, port)?;
        let answers = match borrowed {
            Host::Domain(name) => self
                .resolver
                .resolve(name)
                .await
                .map_err(|source| DialError::Resolve { host: host.to_owned(), source })?,
            Host::Ipv4(address) => vec![SocketAddr::new(IpAddr::V4(address), port)],
            Host::Ipv6(address) => vec![SocketAddr::new(IpAddr::V6(address), port)],
        };
        let mut judged = Vec::with_capacity(answers.len().min(MAX_ADDRESSES));
        for mut answer in answers {
            self.policy.check_address(&borrowed, port, &answer)?;
            answer.set_port(port);
            if judged.len() < MAX_ADDRESSES && !judged.contains(&answer) {
                judged.push(answer);
            }
        }
        if judged.is_empty() {
            return Err(DialError::NoAddress { host: host.to_owned() });
        }
        Ok(judged)
    }

    async fn connect(&self, address: SocketAddr) -> Result<TcpStream, Failed> {
        let stream = match &self.proxy {
            None => TcpStream::connect(address).await.map_err(Failed::Io)?,
            Some((host, port)) => {
                let stream = TcpStream::connect((host.as_str(), *port))
                    .await
                    .map_err(|error| Failed::Proxy(format!("it can't be reached: {error}")))?;
                tunnel::open(stream, address).await.map_err(Failed::Proxy)?
            }
        };
        stream.set_nodelay(true).map_err(Failed::Io)?;
        Ok(stream)
    }

    fn check_peer(
        &self,
        host: &str,
        stream: &TcpStream,
        address: SocketAddr,
    ) -> Result<(), DialError> {
        let is_peer = || stream.peer_addr().is_ok_and(|peer| peer == address);
        if self.proxy.is_some() || is_peer() {
            return Ok(());
        }
        Err(DialError::Peer { host: host.to_owned() })
    }
}

enum Failed {
    Io(io::Error),
    Proxy(String),
}

fn borrowed(host: &Host<String>) -> Host<&str> {
    match host {
        Host::Domain(name) => Host::Domain(name.as_str()),
        Host::Ipv4(address) => Host::Ipv4(*address),
        Host::Ipv6(address) => Host::Ipv6(*address),
    }
}
