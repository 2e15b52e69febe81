//! Recursive queries in containers: the same tests as for sessions on this machine.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../queries/answers.rs"]
mod answers;
mod backend;
#[path = "../queries/bounds.rs"]
mod bounds;
#[path = "../queries/calls.rs"]
mod calls;
mod containers;
#[path = "../queries/ends.rs"]
mod ends;
#[path = "../queries/long.rs"]
mod long;
#[path = "../queries/orders.rs"]
mod orders;
#[path = "../queries/resume.rs"]
mod resume;
#[path = "../queries/support.rs"]
mod support;
#[path = "../queries/tool.rs"]
mod tool;
