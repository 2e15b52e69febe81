//! Agents that are programs: how they end, what they wrote, what is left of them.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says why, and what it measured")]

mod bounds;
mod delivery;
mod ends;
mod model;
mod output;
mod support;
mod worktree;
