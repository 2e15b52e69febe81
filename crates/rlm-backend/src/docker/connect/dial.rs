//! A connection to an endpoint, as a stream of bytes.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
    time::timeout,
};

use super::{
    endpoint::Endpoint,
    environment::EngineEnvironment,
    ssh::{Ssh, SshProcess, SshStream},
    tls::Tls,
};

/// How long a connection may take to come about.
const DIAL_TIMEOUT: Duration = Duration::from_secs(10);

/// A stream of bytes in both directions.
pub(super) trait Bytes: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Bytes for T {}

/// A connection, and the `ssh` that carries it where one does.
pub(super) struct Connection {
    pub(super) stream: Box<dyn Bytes>,
    pub(super) ssh: Option<Arc<SshProcess>>,
}

/// How connections to one engine are made.
pub(super) enum Dialer {
    Unix(std::path::PathBuf),
    Tcp { host: String, port: u16 },
    Tls { host: String, port: u16, tls: Box<Tls> },
    Ssh(Arc<Ssh>),
}

impl Dialer {
    /// Reads what it needs. Blocks.
    pub(super) fn new(endpoint: Endpoint, environment: &EngineEnvironment) -> io::Result<Self> {
        Ok(match endpoint {
            Endpoint::Unix(path) => Self::Unix(path),
            Endpoint::Tcp { host, port, tls: None } => Self::Tcp { host, port },
            Endpoint::Tcp { host, port, tls: Some(files) } => {
                let tls = Box::new(Tls::new(&files, &host)?);
                Self::Tls { host, port, tls }
            }
            Endpoint::Ssh(target) => Self::Ssh(Arc::new(Ssh::new(target, environment))),
        })
    }

    /// Whether a connection costs more than some system calls, so that it is worth keeping.
    pub(super) fn is_costly(&self) -> bool {
        matches!(self, Self::Tls { .. } | Self::Ssh(_))
    }

    /// Makes one.
    pub(super) async fn dial(&self) -> io::Result<Connection> {
        let dialed = timeout(DIAL_TIMEOUT, self.dial_at_leisure()).await;
        dialed.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    async fn dial_at_leisure(&self) -> io::Result<Connection> {
        let plain = |stream: Box<dyn Bytes>| Connection { stream, ssh: None };
        Ok(match self {
            Self::Unix(path) => plain(Box::new(UnixStream::connect(path).await?)),
            Self::Tcp { host, port } => plain(Box::new(tcp(host, *port).await?)),
            Self::Tls { host, port, tls } => {
                plain(Box::new(tls.greet(tcp(host, *port).await?).await?))
            }
            Self::Ssh(ssh) => {
                let ssh = Arc::clone(ssh);
                let started = tokio::task::spawn_blocking(move || ssh.start()).await;
                let (stream, process) = started.map_err(io::Error::other)??;
                let process = Arc::new(process);
                let stream = SshStream::new(stream, Arc::clone(&process))?;
                Connection { stream: Box::new(stream), ssh: Some(process) }
            }
        })
    }
}

async fn tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((host, port)).await?;
    // What is said in a session is short, and waits for an answer.
    stream.set_nodelay(true)?;
    Ok(stream)
}
