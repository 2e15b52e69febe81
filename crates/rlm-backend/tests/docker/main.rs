//! Sessions in containers whose drivers have pipes of this machine: the same tests as for sessions on
//! this machine, and those that only containers need.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and the measuring one says what it measured"
)]

/// Whether what drivers say comes over the engine's stream.
const STREAMED: bool = false;

mod backend;
#[path = "../sessions/state.rs"]
mod state;
#[path = "../sessions/support.rs"]
mod support;
