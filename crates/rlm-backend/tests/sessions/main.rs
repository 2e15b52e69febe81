//! Sessions in really confined processes: what they remember, how they end, what they can't reach.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and the measuring one says what it measured"
)]

mod backend;
mod background;
mod changes;
mod ends;
mod files;
mod host;
mod ids;
mod levels;
mod lifetime;
mod pool;
mod reach;
mod situations;
mod snapshots;
mod speed;
mod state;
mod support;
mod variables;
