//! Configurations: what is read, what is refused, and which tools come of it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod layers;
mod registry;
