//! `remit mcp` as a client sees it: raw JSON-RPC over pipes and over HTTP, nothing of our own between.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod asking;
mod calls;
mod client;
mod framing;
mod hosts;
mod http;
mod lifetime;
mod protocol;
