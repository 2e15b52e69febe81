//! What every backend gives to a model, whatever isolates: the same calls on a backend that starts
//! nothing and on this machine.
//!
//! On the played backend also what a real interpreter does rarely: it dies, never ends, or is missing.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[allow(dead_code, reason = "the tests of confined sessions use more of it")]
#[path = "../sessions/backend.rs"]
mod backend;
#[allow(dead_code, unused_macros, unused_imports, reason = "the same")]
#[path = "../sessions/support.rs"]
mod support;

mod backends;
mod both;
mod endings;
mod script;
mod single;
mod watching;
