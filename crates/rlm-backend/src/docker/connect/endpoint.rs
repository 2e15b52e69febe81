//! Addresses of engines, as the `docker` command writes them.

use std::{fmt, path::PathBuf};

const UNIX_DEFAULT: &str = "/var/run/docker.sock";
const HOST_DEFAULT: &str = "localhost";

/// Where an engine listens, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// A socket of this machine.
    Unix(PathBuf),
    /// A port, with or without TLS.
    Tcp { host: String, port: u16, tls: Option<TlsFiles> },
    /// A machine that is reached with `ssh`, and has the `docker` command.
    Ssh(SshTarget),
}

/// The files of a connection with TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TlsFiles {
    /// Who may have signed the engine's certificate; the authorities of the machine where absent.
    pub(super) ca: Option<PathBuf>,
    /// The certificate that we show, and its key.
    pub(super) identity: Option<(PathBuf, PathBuf)>,
}

/// Where `ssh` goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SshTarget {
    pub(super) user: Option<String>,
    pub(super) host: String,
    pub(super) port: Option<u16>,
    /// The engine's socket over there; its default one where absent.
    pub(super) socket: Option<String>,
}

/// Why a text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum AddressError {
    #[error(
        "{0:?} is not an address of an engine that this program can use; those begin with unix://, tcp:// \
         or ssh://"
    )]
    Scheme(String),
    #[error("{0:?} has no port that is one")]
    Port(String),
    #[error("{0:?} names no host that ssh could be given")]
    SshHost(String),
}

impl Endpoint {
    /// Reads an address; `tls` says what to use where it is a TCP one.
    pub(super) fn parse(text: &str, tls: Option<TlsFiles>) -> Result<Self, AddressError> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("tcp", text));
        match scheme {
            "unix" => Ok(Self::Unix(PathBuf::from(or(rest, UNIX_DEFAULT)))),
            "tcp" | "http" | "https" => {
                let rest = rest.trim_end_matches('/');
                let port = if tls.is_some() { 2376 } else { 2375 };
                let (host, port) = host_and_port(rest, port)?;
                Ok(Self::Tcp { host: or(&host, HOST_DEFAULT).to_owned(), port, tls })
            }
            "ssh" => SshTarget::parse(text, rest).map(Self::Ssh),
            _ => Err(AddressError::Scheme(text.to_owned())),
        }
    }

    /// Whether the engine is on this machine, as far as the address tells.
    pub(super) fn is_local(&self) -> bool {
        matches!(self, Self::Unix(_))
    }
}

fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}

/// `host`, `host:port`, `[v6]` or `[v6]:port`.
fn host_and_port(text: &str, default: u16) -> Result<(String, u16), AddressError> {
    let wrong = || AddressError::Port(text.to_owned());
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, rest)) => (host, Some(rest.strip_prefix(':').ok_or_else(wrong)?)),
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = port.map_or(Ok(default), |port| port.parse().map_err(|_| wrong()))?;
    Ok((host.to_owned(), port))
}

impl SshTarget {
    /// `[user@]host[:port][/socket]`. Nothing in it can be taken for an option of `ssh`.
    fn parse(text: &str, rest: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError::SshHost(text.to_owned());
        let (place, socket) = match rest.find('/') {
            Some(at) if at + 1 < rest.len() => (&rest[..at], Some(rest[at..].to_owned())),
            Some(at) => (&rest[..at], None),
            None => (rest, None),
        };
        let (user, place) = match place.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, place),
        };
        let (host, port) = host_and_port(place, 0)?;
        let is_plain = |text: &str| {
            let plain = |c: char| c.is_alphanumeric() || "-._%:".contains(c);
            !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
        };
        let is_path =
            |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "/-._".contains(c));
        let is_usable =
            is_plain(&host) && user.is_none_or(is_plain) && socket.as_deref().is_none_or(is_path);
        if !is_usable {
            return Err(wrong());
        }
        let port = (port != 0).then_some(port);
        Ok(Self { user: user.map(str::to_owned), host, port, socket })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Tcp { host, port, tls } => {
                let with = if tls.is_some() { " with TLS" } else { "" };
                let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
                write!(f, "tcp://{host}:{port}{with}")
            }
            Self::Ssh(SshTarget { user, host, port, socket }) => {
                let user = user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
                let port = port.map(|port| format!(":{port}")).unwrap_or_default();
                write!(f, "ssh://{user}{host}{port}{}", socket.as_deref().unwrap_or_default())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Option<TlsFiles> {
        Some(TlsFiles { ca: None, identity: None })
    }

    #[test]
    fn addresses_are_read_as_the_docker_command_reads_them() {
        let cases = [
            ("unix:///run/a.sock", None, "unix:///run/a.sock"),
            ("unix://", None, "unix:///var/run/docker.sock"),
            ("tcp://10.0.0.1:2375", None, "tcp://10.0.0.1:2375"),
            ("tcp://engine", None, "tcp://engine:2375"),
            ("tcp://engine/", files(), "tcp://engine:2376 with TLS"),
            ("https://engine:9", files(), "tcp://engine:9 with TLS"),
            ("engine:4", None, "tcp://engine:4"),
            ("tcp://[::1]:7", None, "tcp://[::1]:7"),
            ("tcp://:7", None, "tcp://localhost:7"),
            ("ssh://me@there:22", None, "ssh://me@there:22"),
            ("ssh://there", files(), "ssh://there"),
            ("ssh://there/run/user/1/docker.sock", None, "ssh://there/run/user/1/docker.sock"),
        ];
        for (text, tls, expected) in cases {
            assert_eq!(Endpoint::parse(text, tls).unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_and_nothing_reaches_the_options_of_ssh() {
        for text in [
            "npipe:////./pipe/docker_engine",
            "fd://3",
            "tcp://engine:port",
            "tcp://[::1]7",
            "tcp://engine:99999",
            "ssh://",
            "ssh://-oProxyCommand=true",
            "ssh://-lroot@there",
            "ssh://there;true",
            "ssh://there/$(true)",
            "ssh://a b",
        ] {
            assert!(Endpoint::parse(text, None).is_err(), "{text}");
        }
    }
}
