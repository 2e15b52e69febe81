//! Help for tests: local servers, scripted models and misbehaving executors.

pub mod bfcl;
