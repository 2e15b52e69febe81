//! `remit completions` and `remit man`.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::{args::Cli, failure::Failure, out};

pub(super) fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "remit", &mut script);
    out::text_out(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn man(name: Option<&str>) -> Result<ExitCode, Failure> {
    let mut root = Cli::command();
    root.build();
    let command = match name {
        None => root,
        Some(name) => match root.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                let known: Vec<_> = root.get_subcommands().map(clap::Command::get_name).collect();
                let known = known.join(", ");
                let message = format!("man: {name:?} is no command of remit (valid: {known})");
                return Err(Failure::Operator(message));
            }
        },
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|error| Failure::Broken(format!("the page can't be made: {error}")))?;
    out::text_out(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}
