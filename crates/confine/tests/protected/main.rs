//! What a host obeys or runs later is protected within a writable directory, and what could not be
//! protected is found afterwards.
//!
//! Where a case is an attack it is first shown to work without confinement: whatever the attacker
//! does is done by a plain shell, then by a confined one, and both times the host does afterwards
//! what it would do anyway.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod born;
mod configured;
mod ghosts;
mod links;
#[path = "../common/ordinary_user.rs"]
mod ordinary_user;
mod repositories;
mod rotated;
mod sockets;
mod support;
mod worktrees;
