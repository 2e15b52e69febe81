//! One request with its redirects, within bounds.
//!
//! The HTTP client is `hyper` over connections that the [`Dialer`](crate::Dialer) opened, one for each
//! request: there is no pool whose connections a later policy would not have judged, no hook that a
//! literal address or a proxy variable goes past, and no header that we did not write. Redirects are
//! followed here, and each hop is judged as the first URL was.
//!
//! Guaranteed: nothing a caller set crosses an origin, nor does a body; every wait ends by the
//! request's deadline; the head, the bytes on the wire and the bytes after decompression are bounded.
//!
//! Left out on purpose: HTTP/2 and 3 (every server speaks 1.1), connection reuse, caches, brotli, whose
//! decoder can be made to take 263 MiB by 157 bytes.

mod body;
mod cookies;
mod counted;
mod decode;
mod encodings;
mod error;
mod exchange;
mod fetched;
mod fetcher;
mod headers;
mod hosts;
mod redirect;
mod request;
mod retry;
mod robots;
#[cfg(test)]
mod robots_suite;
mod tls;

pub use cookies::CookieJar;
pub use error::{FetchError, Phase};
pub use fetched::{Fetched, Hop};
pub use fetcher::Fetcher;
pub use headers::HeaderProblem;
pub use request::{FetchRequest, RequestError};
