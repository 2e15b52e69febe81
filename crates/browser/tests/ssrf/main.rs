//! Requests that a server may be tricked into: none of them reaches an address that the policy refuses.
//!
//! Each is tried against a server on 127.0.0.1 that counts connections, and beside each stands the proof
//! that the same server is reached where the policy allows it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod names;
mod parsers;
mod proxies;
mod redirects;
mod spellings;
mod whatwg;
