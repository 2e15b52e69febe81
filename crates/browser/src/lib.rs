//! The web, read safely.
//!
//! - `policy`: which addresses may be dialled, checked where they are dialled.
//! - `fetch`: one request with its redirects, within bounds of time and bytes.
//! - `extract`: bytes of a page to its main content, within bounds of depth, time and memory.
//! - `engine`: a real browser, behind a proxy that holds the same policy.
//! - `tool`: the operations of a model over them.

mod engine;
mod extract;
mod fetch;
mod policy;
mod tool;

#[doc(hidden)]
pub use extract::explain;
pub use extract::{
    Charset, CharsetSource, Cut, ExtractError, ExtractLimits, ExtractOptions, Extracted, Format,
    Kind, Link, Metadata, Refresh, Scope, extract,
};
