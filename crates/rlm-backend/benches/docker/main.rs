//! What sessions in containers cost, beside sessions on this machine and beside the `docker` command.
//!
//! `cargo xtask bench docker [-- [--small] [--only PART]]` prints a table: medians of interleaved rounds on
//! one engine, the same of what each is compared with, their ratio, and the bar that the ratio should
//! keep. `--small` runs fewer rounds. `--only` runs one part: `calls`, `warm` or `cold`. The engine is the
//! one that `DOCKER_HOST` names, with the images of `scripts/docker_test_image.sh`; `docker run` is
//! measured without a network, which is its fastest form.
#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "sessions are for Linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise, and prints what it measured"
)]

#[cfg(target_os = "linux")]
mod command;
#[cfg(target_os = "linux")]
mod parts;
#[cfg(target_os = "linux")]
#[path = "../sessions/subject.rs"]
#[allow(dead_code, reason = "shared with another benchmark, which uses more of it")]
mod subject;
#[cfg(target_os = "linux")]
#[path = "../sessions/table.rs"]
#[allow(dead_code, reason = "shared with another benchmark, which uses more of it")]
mod table;

#[cfg(target_os = "linux")]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let size = match words.iter().any(|word| word == "--small") {
        true => parts::Size { calls: 200, starts: 6 },
        false => parts::Size { calls: 2000, starts: 30 },
    };
    let only = words.iter().position(|word| word == "--only").and_then(|at| words.get(at + 1));
    let runs = |part: &str| only.is_none_or(|only| only == part);
    let Some(engine) = testkit::docker::engine() else { return };
    // As the command line has it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    println!("{}", table::HEAD);
    runtime.block_on(async {
        if runs("calls") {
            parts::calls(engine, &size).await;
        }
        if runs("warm") {
            parts::from_the_pool(engine, &size).await;
        }
        if runs("cold") {
            parts::cold(engine, &size).await;
        }
    });
}

#[cfg(not(target_os = "linux"))]
fn main() {}
