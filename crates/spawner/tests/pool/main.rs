//! Agents that are programs: how they end, what they wrote, what is left of them.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bounds;
mod delivery;
mod ends;
mod many;
mod model;
mod output;
mod support;
mod worktree;
