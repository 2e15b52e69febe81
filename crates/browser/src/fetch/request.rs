//! What is asked for.

use std::time::{Duration, Instant};

use http::{HeaderMap, Method};

use super::headers::{self, HeaderProblem};

/// The longest time of a request that names no deadline.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The most headers of a caller, and the most bytes of them together.
const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: usize = 32 << 10;

/// A request, of which everything but the URL has been checked. The URL is checked when it is sent.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Vec<u8>>,
    pub(super) deadline: Instant,
    pub(super) obeys_robots: bool,
    pub(super) is_document: bool,
}

/// A request that can't be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// A header or the method.
    #[error(transparent)]
    Header(#[from] HeaderProblem),
    /// Too many headers.
    #[error("at most {MAX_HEADERS} headers of together {MAX_HEADER_BYTES} bytes are accepted")]
    TooManyHeaders,
}

impl FetchRequest {
    /// A GET request, with 30 seconds of time.
    #[must_use]
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            url: url.into(),
            headers: HeaderMap::new(),
            body: None,
            deadline: Instant::now() + TIMEOUT,
            obeys_robots: false,
            is_document: false,
        }
    }

    /// The same with another method, written in any case.
    ///
    /// # Errors
    /// It is none of GET, HEAD, POST, PUT, PATCH and DELETE.
    pub fn with_method(mut self, method: &str) -> Result<Self, RequestError> {
        self.method = headers::method(method)?;
        Ok(self)
    }

    /// The same with one more header. It goes to the origin of the URL, and to no other.
    ///
    /// # Errors
    /// A name or a value that is none, or a header that is not the caller's.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self, RequestError> {
        let (name, value) = headers::check(name, value)?;
        self.headers.append(name, value);
        let bytes: usize =
            self.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if self.headers.len() > MAX_HEADERS || bytes > MAX_HEADER_BYTES {
            return Err(RequestError::TooManyHeaders);
        }
        Ok(self)
    }

    /// Whether a header is there.
    #[must_use]
    pub fn has_header(&self, name: &str) -> bool {
        self.headers.contains_key(name)
    }

    /// The same with a body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// The same, answered by then at the latest.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.deadline = deadline;
        self
    }

    /// The same, obeying `robots.txt` where the configuration says so.
    #[must_use]
    pub fn obeying_robots(mut self) -> Self {
        self.obeys_robots = true;
        self
    }

    /// The same for a reader of pages: what a browser accepts is asked for, and a document that can't
    /// be cut (a PDF) has a ceiling of its own.
    #[must_use]
    pub fn for_reading(mut self) -> Self {
        self.is_document = true;
        self
    }
}
