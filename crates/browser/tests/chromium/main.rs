//! Pages in a real Chromium: what can be done in them, what they can't do, and what is left of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod ending;
mod hostile;
mod operations;
mod png;
mod processes;
mod support;
mod tool;
mod walls;
