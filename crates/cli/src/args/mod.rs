//! What was typed. What it means is decided in `settings`.

mod agent;
mod exec;
mod shared;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use agent::{AgentArgs, Provider};
pub(crate) use exec::ExecArgs;
pub(crate) use shared::{ExecutionArgs, SettingsArgs};

/// Executes a language model's tool calls: the model asks, the operator decides, the kernel enforces.
#[derive(Debug, Parser)]
#[command(name = "remit", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// More about what happens, on standard error (twice: even more)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Execute recorded calls, and print one result a line
    Exec(ExecArgs),
    /// Drive a model: its calls are executed, its results go back, until it answers
    Agent(AgentArgs),
    /// List the tools, their schemas, and whether they may be called
    Tools(ToolsArgs),
    /// Look at the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Look at an audit trail
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of remit or of one of its commands
    Man {
        /// The command
        command: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
    /// Print JSON: one object for each tool
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the definitions as a vendor writes them, in a JSON array
    #[arg(long, value_name = "SHAPE", conflicts_with = "json")]
    pub(crate) format: Option<Shape>,
}

/// A vendor's shape of tool definitions.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Shape {
    Openai,
    Anthropic,
    Mcp,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every key with its value and where the value came from
    Show {
        #[command(flatten)]
        settings: SettingsArgs,
        #[command(flatten)]
        execution: ExecutionArgs,
        /// Print JSON: one object for each key
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the configuration file
    Schema,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Check a trail, and name its first broken line
    Verify {
        /// The trail
        file: PathBuf,
    },
}
