//! The `remit` command: arguments and configuration in, exit code out.
//!
//! Results go to standard output, everything for people to standard error. Exit codes: 0 done, 1 the
//! work ended with an error, 2 an operator's mistake (found before anything is contacted or executed),
//! 130 interrupted. A closed standard output is a quiet end.

mod approver;
mod args;
mod commands;
mod env;
mod failure;
mod interrupt;
mod logging;
mod out;
mod printable;
mod session;
mod settings;

use std::process::ExitCode;

use clap::Parser;

use crate::{args::Cli, failure::Failure};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => return out::usage(&usage),
    };
    logging::start(cli.verbose);
    match commands::run(cli) {
        Ok(code) => code,
        Err(Failure::ClosedOutput) => ExitCode::SUCCESS,
        Err(failure) => {
            out::complain(&failure);
            failure.exit_code()
        }
    }
}
