//! `agent`: a program that behaves as agents do at their worst, one way a run.
//!
//! `agent WAY [ARGUMENT]`, where the way is one of those below. It needs no other program, prints only
//! what the way says, and ends by itself after a minute at the latest.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it prints is what it is for")]

#[cfg(target_os = "linux")]
mod ways;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let way = arguments.next().unwrap_or_default();
    let argument = arguments.next().unwrap_or_default();
    ways::go(&way.to_string_lossy(), &argument)
}

/// The ways are those of Linux: elsewhere there is nothing to be.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::from(20)
}
