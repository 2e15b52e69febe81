//! The server as a library: its bounds over HTTP, and clients on streams that behave badly.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod limits;
mod resume;
mod served;
mod streams;
mod tasks;
mod tools;
