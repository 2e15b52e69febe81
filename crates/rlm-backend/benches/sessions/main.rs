//! What sessions cost: to make, to call, to keep, one and three hundred of them.
//!
//! `cargo xtask bench sessions [-- [--small] [--only PART] [--calls N] [--python FILE]]` prints a table: medians of
//! interleaved rounds, the same of what each is compared with, their ratio, and the bar that the ratio
//! should keep. `--small` runs fewer rounds and fewer sessions. `--only` runs one part: `python`,
//! `bash`, `create`, `memory` or `many`. `--calls` says how many calls there are of each. `--python` names an interpreter that has `ipykernel` and
//! `jupyter_client`; without it those that are found are asked.
#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "sessions are for Linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise, and prints what it measured"
)]

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod many;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod peers;
#[cfg(target_os = "linux")]
mod starts;
#[cfg(target_os = "linux")]
mod subject;
#[cfg(target_os = "linux")]
mod table;

/// How much is measured.
#[cfg(target_os = "linux")]
struct Size {
    /// Rounds of what takes microseconds.
    calls: usize,
    /// Rounds of what starts a process.
    starts: usize,
    /// How many sessions are "many".
    sessions: usize,
}

#[cfg(target_os = "linux")]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_small = words.iter().any(|word| word == "--small");
    let mut size = match is_small {
        true => Size { calls: 300, starts: 10, sessions: 30 },
        false => Size { calls: 3000, starts: 40, sessions: 300 },
    };
    let after = |flag: &str| {
        let at = words.iter().position(|word| word == flag)?;
        words.get(at + 1).map(String::as_str)
    };
    let (only, python) = (after("--only"), after("--python"));
    if let Some(calls) = after("--calls") {
        size.calls = calls.parse().unwrap();
    }
    let runs = |part: &str| only.is_none_or(|only| only == part);
    // As the command line has it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    println!("{}", table::HEAD);
    runtime.block_on(async {
        if runs("python") {
            calls::python(&size, python).await;
        }
        if runs("bash") {
            calls::bash(&size).await;
        }
        if runs("create") {
            starts::create(&size).await;
        }
        if runs("memory") {
            memory::idle().await;
        }
        if runs("many") {
            many::in_turn(&size).await;
        }
    });
}

#[cfg(not(target_os = "linux"))]
fn main() {}
