//! Chores of the workspace: `cargo xtask COMMAND [ARGUMENTS]`.
//!
//! One row of [`COMMANDS`] for each chore: its name, what it takes, what it does, and the function
//! that does it. Exit code 0: done and in order. 1: it found something. 2: the command line is wrong.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's tool: its reports are its output"
)]

mod audit;
mod bench;
mod bfcl;
mod ci;
mod error;
mod folder;
mod fuzz;
mod layers;
mod process;
mod smoke;
mod soak;
mod workspace;

use std::process::ExitCode;

use error::Error;

/// One chore.
struct Command {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<(), Error>,
}

/// Every chore, in the order of the help text.
const COMMANDS: &[Command] = &[
    Command {
        name: "layers",
        arguments: "",
        about: "fails on a dependency between crates that points the wrong way",
        run: layers::run,
    },
    Command {
        name: "audit",
        arguments: "",
        about: "the release audit: packages, licences, leftovers, files, fences",
        run: audit::run,
    },
    Command {
        name: "smoke",
        arguments: "",
        about: "runs scripts/*_smoke.sh against the built program",
        run: smoke::run,
    },
    Command {
        name: "fuzz",
        arguments: "TARGET SECONDS [--runs N]",
        about: "builds a fuzz target with coverage and runs it",
        run: fuzz::run,
    },
    Command {
        name: "bench",
        arguments: "NAME [-- ARGUMENTS]",
        about: "builds a benchmark and runs it",
        run: bench::run,
    },
    Command {
        name: "soak",
        arguments: "NAME [COUNT]",
        about: "the long form of a test: floods, a thousand sessions, hosts that are killed",
        run: soak::run,
    },
    Command {
        name: "ci",
        arguments: "",
        about: "everything that must hold before a change is taken (.ci/run)",
        run: ci::run,
    },
    Command {
        name: "bfcl",
        arguments: "FOLDER [--write]",
        about: "stages 1 to 4 on the Berkeley Function Calling Leaderboard's data",
        run: bfcl::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Error> {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Error::usage(help()));
    };
    if is_help(name) {
        println!("{}", help());
        return Ok(());
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(Error::usage(format!("there is no command {name:?}\n\n{}", help())));
    };
    if rest.iter().any(|argument| is_help(argument)) {
        println!("{}", usage(command));
        return Ok(());
    }
    (command.run)(rest)
}

/// Refuses arguments where a chore takes none.
fn no_arguments(command: &str, arguments: &[String]) -> Result<(), Error> {
    match arguments.first() {
        None => Ok(()),
        Some(first) => Err(Error::usage(format!("{command} takes no arguments, not {first:?}"))),
    }
}

fn is_help(argument: &str) -> bool {
    matches!(argument, "--help" | "-h" | "help")
}

fn usage(command: &Command) -> String {
    let line = format!("cargo xtask {} {}", command.name, command.arguments);
    format!("{}\n\n  {}", line.trim_end(), command.about)
}

fn help() -> String {
    let mut text = "cargo xtask COMMAND [ARGUMENTS]\n\nCommands:".to_owned();
    for command in COMMANDS {
        text.push_str(&format!("\n  {:<8} {}", command.name, command.about));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn an_unknown_command_is_refused_with_the_known_ones() {
        let error = dispatch(&words("polish")).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        for command in COMMANDS {
            assert!(error.to_string().contains(command.name), "{error}");
        }
        assert_eq!(dispatch(&[]).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn help_is_an_answer_and_runs_nothing() {
        assert!(dispatch(&words("--help")).is_ok());
        for command in COMMANDS {
            assert!(dispatch(&words(&format!("{} --help", command.name))).is_ok());
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = COMMANDS.iter().map(|command| command.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMMANDS.len());
    }
}
