//! The fetcher against a server of ours: every limit, and every lie that a server can tell.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "a skipped check says why")]

#[path = "../common/mod.rs"]
mod common;

mod bodies;
mod credentials;
mod lies;
mod politeness;
mod redirects;
mod secure;
