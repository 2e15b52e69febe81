//! What came back.

use std::{net::SocketAddr, time::Duration};

use http::{HeaderMap, StatusCode, header};
use url::Url;

/// One redirect that was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// The URL that answered.
    pub url: Url,
    /// Its status.
    pub status: u16,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The status.
    pub status: StatusCode,
    /// The URL that gave it.
    pub url: Url,
    /// The redirects on the way there, in order.
    pub redirects: Vec<Hop>,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, decompressed, at most as long as was allowed.
    pub body: Vec<u8>,
    /// The bytes of the body on the wire, as far as they were read.
    pub wire_bytes: u64,
    /// Whether the body was longer than allowed, and is cut.
    pub is_truncated: bool,
    /// Whether the server sent less than it announced, or what it sent broke off.
    pub is_incomplete: bool,
    /// What a `Retry-After` header says, where the status is 429 or 503.
    pub retry_after: Option<Duration>,
    /// The address that was dialled.
    pub address: SocketAddr,
}

impl Fetched {
    /// The `Content-Type` header, where it is text.
    #[must_use]
    pub fn content_type(&self) -> Option<&str> {
        self.headers.get(header::CONTENT_TYPE)?.to_str().ok()
    }
}
