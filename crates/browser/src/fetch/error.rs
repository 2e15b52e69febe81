//! Why there is no answer.

use std::time::Duration;

use crate::{DialError, Refusal};

/// What a request was waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Its turn: other requests to this host, or the delay between two.
    Turn,
    /// The connection, with its TLS handshake.
    Connect,
    /// The head of the answer.
    Head,
    /// The body of the answer.
    Body,
}

impl Phase {
    /// In words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "its turn at this host",
            Self::Connect => "the connection",
            Self::Head => "the head of the answer",
            Self::Body => "the rest of the body",
        }
    }
}

/// Why there is no answer. The text can go to a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The policy refuses the URL, or where a redirect leads.
    #[error("{}{refusal}", if *is_redirect { "a redirect leads to what is refused: " } else { "" })]
    Refused {
        /// Whether a redirect led there.
        is_redirect: bool,
        /// The refusal.
        refusal: Refusal,
    },
    /// There is no connection.
    #[error(transparent)]
    Dial(DialError),
    /// The TLS handshake failed: an untrusted certificate, another name, no TLS at all.
    #[error("no secure connection to {host:?}: {message}")]
    Tls {
        /// The host.
        host: String,
        /// What is wrong.
        message: String,
    },
    /// It took too long.
    #[error("the server {host:?} was too slow: after {} ms still waiting for {}", after.as_millis(), phase.as_str())]
    TimedOut {
        /// The host.
        host: String,
        /// What was waited for.
        phase: Phase,
        /// The time that there was.
        after: Duration,
    },
    /// The head of the answer is over its ceiling, in bytes or in lines.
    #[error(
        "the head of the answer of {host:?} is too large: at most {max_bytes} bytes and 100 headers are accepted"
    )]
    HeadTooLarge {
        /// The host.
        host: String,
        /// The ceiling.
        max_bytes: u64,
    },
    /// The server does not speak HTTP/1.1 as it is written.
    #[error("the server {host:?} does not speak proper HTTP: {message}")]
    Protocol {
        /// The host.
        host: String,
        /// What is wrong.
        message: String,
    },
    /// The connection was closed before there was an answer.
    #[error("the server {host:?} closed the connection before it answered")]
    Closed {
        /// The host.
        host: String,
    },
    /// A body in an encoding that we did not offer, or that does not decode.
    #[error("the body can't be decoded: {message}")]
    Encoding {
        /// What is wrong.
        message: String,
    },
    /// More redirects than are followed.
    #[error("{}more than {max} redirects", if *is_loop { "the redirects go in a circle: " } else { "" })]
    TooManyRedirects {
        /// The most that are followed.
        max: u64,
        /// Whether one URL came twice.
        is_loop: bool,
    },
    /// A redirect wants the request, with its method and its body, sent to another origin.
    #[error(
        "a redirect wants the {method} request sent on to another origin, {origin}, which is refused; call that URL itself if it is meant"
    )]
    ForwardedRequest {
        /// The method.
        method: String,
        /// The other origin.
        origin: String,
    },
    /// `robots.txt` of the host does not allow it, or could not be read.
    #[error("robots.txt of {origin} refuses: {reason}")]
    Robots {
        /// The origin.
        origin: String,
        /// The rule, or why there is none.
        reason: String,
    },
    /// A fault of this machine.
    #[error("this machine: {message}")]
    Machine {
        /// What is wrong.
        message: String,
    },
}

impl FetchError {
    pub(super) fn refused(refusal: Refusal) -> Self {
        Self::Refused { is_redirect: false, refusal }
    }

    /// The refusal of the policy, where it is one.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused { refusal, .. } | Self::Dial(DialError::Refused(refusal)) => {
                Some(refusal)
            }
            _ => None,
        }
    }
}

impl From<DialError> for FetchError {
    fn from(error: DialError) -> Self {
        match error {
            DialError::Refused(refusal) => Self::refused(refusal),
            other => Self::Dial(other),
        }
    }
}
