//! One file a command.

mod agent;
mod agents;
mod audit;
mod brief;
mod config;
mod doctor;
mod exec;
mod lines;
mod mcp;
mod report;
mod rlm;
mod sessions;
mod shell;
mod timeline;
mod tools;

use std::{future::Future, process::ExitCode};

use crate::{
    args::{Cli, Command},
    failure::Failure,
    screen::Screen,
};

/// Runs the command that was typed.
pub(crate) fn run(cli: Cli, screen: &Screen) -> Result<ExitCode, Failure> {
    match cli.command {
        Command::Exec(args) => block_on(exec::run(args, screen)),
        Command::Agent(args) => block_on(agent::run(args, screen)),
        Command::Agents(args) => agents::run(&args),
        Command::Rlm(args) => block_on(Box::pin(rlm::run(args, screen))),
        Command::Sessions(command) => sessions::run(&command),
        Command::Tools(args) => tools::run(&args),
        Command::Mcp(args) => mcp::run(args, screen),
        Command::Config(command) => config::run(command),
        Command::Audit(command) => audit::run(command),
        Command::Doctor(args) => block_on(Box::pin(doctor::run(args))),
        Command::Report(args) => report::run(&args),
        Command::Completions { shell } => shell::completions(shell),
        Command::Man { command } => shell::man(&command),
    }
}

fn block_on(command: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Broken(format!("no runtime could be started: {error}")))?;
    let code = runtime.block_on(command);
    // Whatever still blocks a thread is not waited for.
    runtime.shutdown_background();
    code
}
