//! The Python driver, driven through a link: what each situation of a session comes to.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says what it skipped"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/host.rs"]
mod host;

mod ends;
mod host_calls;
mod libraries;
mod output;
mod state;
mod tracebacks;
mod values;
mod watching;
