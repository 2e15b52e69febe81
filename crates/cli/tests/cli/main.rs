//! The built `remit`, run as a person or a script runs it: in an empty environment, with a private home
//! folder, and with a deadline on every run.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says why")]

mod agent;
mod agents;
mod audit;
mod closed;
mod config;
mod doctor;
mod engines;
mod exec;
mod input;
mod interrupt;
mod mistakes;
mod model;
mod orchestrate;
mod results;
mod rlm;
mod sessions;
mod shell;
mod support;
mod terminal;
mod tools;
