//! Sessions in containers, where everything goes over the engine's stream: the same tests as for sessions
//! on this machine.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and the measuring one says what it measured"
)]

/// Whether what drivers say comes over the engine's stream.
const STREAMED: bool = true;

#[path = "../docker/backend.rs"]
mod backend;
#[path = "../sessions/background.rs"]
mod background;
#[path = "../sessions/changes.rs"]
mod changes;
#[path = "../sessions/ends.rs"]
mod ends;
#[path = "../sessions/files.rs"]
mod files;
#[path = "../sessions/ids.rs"]
mod ids;
#[path = "../sessions/lifetime.rs"]
mod lifetime;
#[path = "../sessions/pool.rs"]
mod pool;
#[path = "../sessions/reach.rs"]
mod reach;
#[path = "../sessions/situations.rs"]
mod situations;
#[path = "../sessions/snapshots.rs"]
mod snapshots;
#[path = "../sessions/state.rs"]
mod state;
#[path = "../sessions/support.rs"]
mod support;
#[path = "../sessions/variables.rs"]
mod variables;
