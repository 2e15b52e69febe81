//! The `remit` command: arguments and configuration in, exit code out.
//!
//! Results go to standard output, everything for people to standard error. Exit codes: 0 done, 1 the
//! work ended with an error, 2 an operator's mistake (found before anything is contacted or executed),
//! 130 interrupted. A closed standard output is a quiet end.

mod agents;
mod approver;
mod args;
mod commands;
mod env;
mod failure;
mod input;
mod interrupt;
mod live;
mod logging;
mod models;
mod out;
mod printable;
mod screen;
mod session;
mod settings;

use std::process::ExitCode;

use clap::Parser;

use crate::{args::Cli, failure::Failure, screen::Screen};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => return out::usage(&usage),
    };
    let screen = Screen::default();
    logging::start(cli.verbose, &screen);
    match commands::run(cli, &screen) {
        Ok(code) => code,
        Err(Failure::ClosedOutput) => ExitCode::SUCCESS,
        Err(failure) => {
            out::complain(&failure);
            failure.exit_code()
        }
    }
}
