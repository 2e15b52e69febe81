//! The whole table, printing it, and running one row of it.

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;

use crate::attempt::{Attempt, Given, Judge, Needs, Stop, Tried};
use crate::{files, inheritance, kernel, limits, network, processes, races};

const DENIED: u8 = 10;
const UNTRIED: u8 = 20;
const USAGE: u8 = 2;

/// Every attempt, group by group.
fn attempts() -> impl Iterator<Item = &'static Attempt> {
    let lists: [&[&[Attempt]]; 7] = [
        files::TABLES,
        network::TABLES,
        processes::TABLES,
        kernel::TABLES,
        limits::TABLES,
        inheritance::TABLES,
        races::TABLES,
    ];
    lists.into_iter().flatten().copied().flatten()
}

/// Prints one JSON object for each attempt.
pub(crate) fn print() -> ExitCode {
    for attempt in attempts() {
        say(&json!({
            "name": attempt.name,
            "group": attempt.group(),
            "about": attempt.about,
            "needs": if attempt.needs == Needs::Root { "root" } else { "nothing" },
            "judge": if attempt.judge == Judge::World { "world" } else { "itself" },
            "guarded": attempt.guarded,
        }));
    }
    ExitCode::SUCCESS
}

/// Runs the attempt called `name`.
pub(crate) fn run(name: &str, arguments: impl Iterator<Item = String>) -> ExitCode {
    match attempts().find(|attempt| attempt.name == name) {
        Some(attempt) => report(name, &(attempt.run)(&Given::parse(arguments))),
        None => usage(&format!("there is no attempt called {name}; --list prints them")),
    }
}

/// Prints the outcome and turns it into the exit code.
fn report(name: &str, tried: &Tried) -> ExitCode {
    let (outcome, errno, detail, code) = match tried {
        Ok(reached) => ("reached", None, reached, ExitCode::SUCCESS),
        Err(Stop::Denied(errno, why)) => ("denied", *errno, why, ExitCode::from(DENIED)),
        Err(Stop::Untried(why)) => ("untried", None, why, ExitCode::from(UNTRIED)),
    };
    say(&json!({"attempt": name, "outcome": outcome, "errno": errno, "detail": detail}));
    code
}

/// Says what was wrong with the command line.
pub(crate) fn usage(message: &str) -> ExitCode {
    say(&json!({"error": message}));
    ExitCode::from(USAGE)
}

/// One line on standard output; nobody can be told when that is closed.
pub(crate) fn say(value: &serde_json::Value) {
    let _closed = writeln!(std::io::stdout().lock(), "{value}");
}
