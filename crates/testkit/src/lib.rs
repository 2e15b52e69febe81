//! Help for tests: local servers, scripted models and misbehaving executors.
//!
//! Never a normal dependency of any crate.

pub mod bfcl;
#[cfg(target_os = "linux")]
pub mod docker;
mod model_server;
#[cfg(all(feature = "sessions", target_os = "linux"))]
pub mod sessions;
pub mod web;

pub use model_server::{ModelServer, RecordedRequest, Step};
