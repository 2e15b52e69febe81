//! The tool behind its gate, against a server of ours: each operation as a model meets it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod api;
mod engineless;
mod extract;
mod limits;
mod navigate;
mod scope;
mod support;
mod trust;
