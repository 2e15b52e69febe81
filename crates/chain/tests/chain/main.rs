//! The chain from outside: a scripted model, a source of results, and what comes out.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod cancel;
mod context;
mod cut_off;
mod events;
mod ids;
mod parallel;
mod providers;
mod stops;
mod support;
mod wire;
