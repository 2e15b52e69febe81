//! `remit completions` and `remit man`.

use std::process::ExitCode;

use clap::{Command, CommandFactory};

use crate::{args::Cli, failure::Failure, out};

pub(super) fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "remit", &mut script);
    out::text_out(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// The page of remit, or of the command with these names: `man audit verify`.
pub(super) fn man(names: &[String]) -> Result<ExitCode, Failure> {
    let mut root = Cli::command();
    root.build();
    let command = names.iter().try_fold(&root, subcommand)?.clone();
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|error| Failure::Broken(format!("the page can't be made: {error}")))?;
    out::text_out(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}

fn subcommand<'a>(parent: &'a Command, name: &String) -> Result<&'a Command, Failure> {
    parent.find_subcommand(name).ok_or_else(|| {
        let known: Vec<_> = parent.get_subcommands().map(Command::get_name).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let parent = parent.get_bin_name().unwrap_or("remit");
        Failure::Operator(format!("man: {name:?} is no command of {parent} (valid: {known})"))
    })
}
