//! Much at once: every byte is accounted for, memory is bounded, and nothing is left.
//!
//! `cargo test -p spawner --test many [-- --agents N | --line-bytes N]` starts agents side by side, and
//! has one agent write one line. `cargo xtask soak agents` and `cargo xtask soak line` have more of both.
#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "agents are for Linux"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "what was measured is printed")]

#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "shared with the tests of the pool, which use more of it")]
#[path = "../pool/support.rs"]
mod support;

#[cfg(target_os = "linux")]
mod checks;

#[cfg(target_os = "linux")]
fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (agents, bytes) = (number_after("--agents"), number_after("--line-bytes"));
    if bytes.is_none() {
        runtime.block_on(checks::side_by_side(agents.unwrap_or(200)));
    }
    if agents.is_none() {
        runtime.block_on(checks::one_huge_line(bytes.unwrap_or(50_000_000)));
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

/// The number behind a flag of the command line.
#[cfg(target_os = "linux")]
fn number_after(flag: &str) -> Option<u64> {
    let mut words = std::env::args().skip_while(|word| word != flag).skip(1);
    words.next()?.parse().ok()
}
