//! The executors of a working directory, on real files: what they give, and that nothing gets out.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says when it skips something"
)]

mod bench;
mod escape;
mod list;
mod lookup;
mod race;
mod read;
mod search;
mod special;
