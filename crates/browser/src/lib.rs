//! The web, read safely.
//!
//! - `policy`: which addresses may be dialled, checked where they are dialled.
//! - `fetch`: one request with its redirects, within bounds of time and bytes.
//! - `extract`: bytes of a page to its main content, within bounds of depth, time and memory.
//! - `engine`: a real browser, behind a proxy that holds the same policy.
//! - `tool`: the operations of a model over them.

mod config;
pub mod engine;
pub mod extract;
mod fetch;
mod policy;
mod tool;

pub use config::{BrowserConfig, BrowserConfigError, EngineKind};
pub use fetch::{
    CookieJar, FetchError, FetchRequest, Fetched, Fetcher, HeaderProblem, Hop, Phase, RequestError,
};
pub use policy::{
    AddressClass, Admission, DialError, Dialed, Dialer, HostPattern, PatternError, PolicyError,
    PolicyRules, Refusal, Resolve, SystemResolver, UrlPolicy,
};
pub use tool::{BrowserTool, BrowserToolError};
