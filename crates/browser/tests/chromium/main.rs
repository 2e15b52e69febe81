//! Pages in a real Chromium: what can be done in them, what they can't do, and what is left of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod operations;
mod png;
mod support;
mod walls;
