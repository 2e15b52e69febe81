//! Much at once: every byte is accounted for, memory is bounded, and nothing is left.
//!
//! `cargo test -p spawner --test many [-- --agents N | --line-bytes N | --kills N]` starts agents side by
//! side, has one agent write one line, and kills hosts. `cargo xtask soak agents`, `line` and `killed` have
//! more of each.
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
mod killed;

#[cfg(target_os = "linux")]
fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let words: Vec<_> = std::env::args().collect();
    if let Some(at) = words.iter().position(|word| word == killed::HOST) {
        runtime.block_on(killed::be_a_host(&words[at + 1], words[at + 2].as_ref()));
        return;
    }
    let asked = ["--agents", "--line-bytes", "--kills"].map(|flag| number_after(&words, flag));
    // Without a number, everything is checked, each with a small one.
    let is_all = asked.iter().all(Option::is_none);
    let [agents, bytes, kills] = asked;
    if let Some(agents) = agents.or(is_all.then_some(200)) {
        runtime.block_on(checks::side_by_side(agents));
    }
    if let Some(bytes) = bytes.or(is_all.then_some(50_000_000)) {
        runtime.block_on(checks::one_huge_line(bytes));
    }
    if let Some(kills) = kills.or(is_all.then_some(6)) {
        killed::kill_hosts(kills);
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

/// The number behind a flag of the command line.
#[cfg(target_os = "linux")]
fn number_after(words: &[String], flag: &str) -> Option<u64> {
    let at = words.iter().position(|word| word == flag)?;
    words.get(at + 1)?.parse().ok()
}
