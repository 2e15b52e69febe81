//! Recursive queries in confined sessions, with programs that play the model.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod backend;
mod bounds;
mod calls;
mod ends;
mod long;
mod orders;
mod resume;
mod support;
mod tool;
