//! The Python driver, driven through a link: what each situation of a session comes to.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../common/mod.rs"]
mod common;

mod ends;
mod host;
mod output;
mod state;
mod tracebacks;
mod values;
mod watching;
