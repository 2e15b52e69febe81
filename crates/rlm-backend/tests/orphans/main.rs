//! Nothing outlives its owner: hosts of sessions in containers are killed with SIGKILL at random moments,
//! and after the next start none of their containers is left.
//!
//! The program runs itself as the host, which makes, uses and destroys sessions until it is killed.
//! Beside them this process has a session of its own in the same engine, which no other host may touch.
//! Judged is what the engine lists, by the owner's process that the label of a container names.
//!
//! `cargo test -p rlm-backend --test orphans [-- --kills N]` says how many hosts are killed; `cargo xtask
//! soak docker` kills 100.
#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "sessions are for Linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "in a test a panic is the report, and the seed is printed to repeat it"
)]

#[cfg(target_os = "linux")]
#[path = "../common/host.rs"]
#[allow(dead_code, reason = "each program of this folder uses a part of it")]
mod host;
#[cfg(target_os = "linux")]
mod hosts;

#[cfg(target_os = "linux")]
fn main() {
    let words: Vec<_> = std::env::args().collect();
    match words.iter().position(|word| word == hosts::AS_HOST) {
        Some(at) => hosts::be_one(&words[at + 1]),
        None => {
            let Some(engine) = testkit::docker::engine() else { return };
            hosts::kill_many(engine, host::number_after("--kills").unwrap_or(hosts::KILLS));
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}
