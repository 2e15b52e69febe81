//! The web, read safely.
//!
//! [`BrowserTool`] is the tool `browser` that a model calls. Rust programs use its parts without it:
//! [`UrlPolicy`] judges URLs, hosts and addresses; [`Dialer`] is the only way from a host to a connection;
//! [`Fetcher`] makes one request with its redirects; [`extract()`] takes the main content out of a page;
//! [`engine`] drives a real browser behind a proxy that holds the same policy.
//!
//! Guaranteed: no request, by whatever spelling, name, redirect or proxy variable, reaches an address that
//! the policy refuses; nothing that a caller set for one origin reaches another; every wait ends, and
//! every size is bounded; what a page wrote is marked as such in the results of the tool.
//!
//! Left out on purpose: crawling, logins, caches, and pretending to be somebody else.
//!
//! ```
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use browser::{BrowserConfig, Dialer, FetchRequest, Fetcher, SystemResolver};
//! # use testkit::web::{Answer, WebServer};
//!
//! # let server = WebServer::always(Answer::html("<h1>Hello</h1>"))?;
//! # let (host, page) = (server.host(), server.url("/"));
//! let config = BrowserConfig {
//!     internal_hosts: vec![host], // "127.0.0.1:8000": open, because it is written down here
//!     ..BrowserConfig::default()
//! };
//! let dialer = Dialer::of_config(&config, Arc::new(SystemResolver))?;
//! let fetcher = Fetcher::new(&config, dialer)?;
//! let fetched = fetcher.fetch(FetchRequest::get(page)).await?;
//! assert_eq!(fetched.body, b"<h1>Hello</h1>");
//!
//! let refused = fetcher.fetch(FetchRequest::get("http://169.254.169.254/")).await;
//! assert!(refused.unwrap_err().refusal().is_some());
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
//! #     .block_on(example()).unwrap();
//! ```

mod config;
pub mod engine;
mod extract;
mod fetch;
mod policy;
mod tool;

pub use config::{BrowserConfig, BrowserConfigError, EngineKind};
#[doc(hidden)]
pub use extract::explain;
pub use extract::{
    Charset, CharsetSource, Cut, ExtractError, ExtractLimits, ExtractOptions, Extracted, Format,
    Kind, Link, Metadata, Refresh, Scope, extract,
};
pub use fetch::{
    CookieJar, FetchError, FetchRequest, Fetched, Fetcher, HeaderProblem, Hop, Phase, RequestError,
};
pub use policy::{
    AddressClass, Admission, DialError, Dialed, Dialer, HostPattern, PatternError, PolicyError,
    PolicyRules, Refusal, Resolve, SystemResolver, UrlPolicy,
};
pub use tool::{BrowserTool, BrowserToolError};
