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
#[path = "../sessions/background.rs"]
mod background;
#[path = "../sessions/changes.rs"]
mod changes;
#[path = "../sessions/ends.rs"]
mod ends;
mod escapes;
#[path = "../sessions/files.rs"]
mod files;
#[path = "../sessions/ids.rs"]
mod ids;
mod images;
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
mod trouble;
#[path = "../sessions/variables.rs"]
mod variables;
