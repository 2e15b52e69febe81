//! `probe`: tries to get out of a sandbox, one attempt a run, and says what it reached.
//!
//! `probe NAME [KEY=VALUE...]` runs one attempt. Its exit code and one JSON line on standard output
//! say how it went: 0 reached (the escape worked), 10 denied (with the errno), 20 it cannot be
//! tried with what was given. `probe --list` prints the table of attempts, one JSON object a line.
//! `probe --victim` is a harmless process for attempts to attack, `probe --worsen PROGRAM ARGS...`
//! runs a program with everything inherited that should not be.
//!
//! Every attempt is harmless where it succeeds: it is bounded, it undoes what it did or changes
//! nothing (calls with invalid arguments that come after the permission check, the present time as
//! the new time), and it never prints a secret of the machine, only canaries of the suite. The
//! suite in `confine` runs each one without confinement too, which proves that it can succeed.

#[cfg(target_os = "linux")]
mod attempt;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod inheritance;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod races;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod table;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("--list") => table::print(),
        Some("--victim") => stage::victim(),
        Some("--worsen") => stage::worsen(&arguments.collect::<Vec<_>>()),
        Some(name) => table::run(name, arguments),
        None => table::usage("name an attempt, or --list"),
    }
}

/// The attempts are Linux system calls: elsewhere there is nothing to try.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::from(20)
}
