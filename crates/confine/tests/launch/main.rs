//! Launching for real: what a child sees, how it ends, what it inherits.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod ending;
mod files;
mod groups;
mod inheritance;
mod levels;
mod listener;
mod mounted;
#[path = "../common/ordinary_user.rs"]
mod ordinary_user;
mod support;
mod through_bwrap;
mod waiting;
