//! What was typed. What it means is decided in `settings`.

mod agent;
mod agents;
mod exec;
mod mcp;
mod rlm;
mod sessions;
mod shared;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use agent::{AgentArgs, ModelArgs, Provider};
pub(crate) use agents::{AgentsArgs, AgentsCommand, ListArgs, OneArgs, PlaceArgs};
pub(crate) use exec::ExecArgs;
pub(crate) use mcp::{HostName, McpArgs};
pub(crate) use rlm::RlmArgs;
pub(crate) use sessions::{GcArgs, SessionsCommand};
pub(crate) use shared::{ExecutionArgs, SettingsArgs};

/// Executes a language model's tool calls: the model asks, the operator decides, the kernel enforces.
#[derive(Debug, Parser)]
#[command(
    name = "remit",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, 1 the work ended with an error, 2 a mistake in a flag, a variable or \
                  a file,\n130 interrupted. REMIT_LOG filters the logs, for example \
                  REMIT_LOG=model=debug."
)]
pub(crate) struct Cli {
    /// More about what happens, on standard error (twice: even more)
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 900)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Exec(ExecArgs),
    Agent(AgentArgs),
    Agents(AgentsArgs),
    Rlm(RlmArgs),
    /// Look after sessions that ran in containers
    #[command(subcommand)]
    Sessions(SessionsCommand),
    Tools(ToolsArgs),
    Mcp(McpArgs),
    /// Look at the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Look at an audit trail
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Show what this machine can enforce on child processes, and which container engine it has
    Doctor(DoctorArgs),
    Report(ReportArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  remit completions bash > \
                            ~/.local/share/bash-completion/completions/remit")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of remit or of one of its commands
    #[command(
        after_help = "Examples:\n  remit man | man -l -\n  remit man audit verify | man -l -"
    )]
    Man {
        /// The command, by all its names
        command: Vec<String>,
    },
}

/// List the tools, their parameters, and whether they may be called
#[derive(Debug, Args)]
#[command(
    after_help = "Takes the flags of exec and agent, so that they can be looked at before anything \
                        runs.\n\nExamples:\n  remit tools --exec-workdir .\n  remit tools --tools \
                        defs.json --format anthropic"
)]
pub(crate) struct ToolsArgs {
    /// Print JSON: one object for each tool
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the definitions as a vendor writes them, in a JSON array
    #[arg(long, value_name = "SHAPE", conflicts_with = "json")]
    pub(crate) format: Option<Shape>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
}

/// A vendor's shape of tool definitions.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Shape {
    Openai,
    Anthropic,
    Mcp,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "made once, where the command line is read")]
pub(crate) enum ConfigCommand {
    /// Print every key with its value and where the value came from
    #[command(after_help = "A variable is named like its key: REMIT_LIMITS_TIMEOUT_MS sets \
                            limits.timeout_ms; lists are\nseparated by commas. REMIT_CONFIG names a \
                            file where --config does not.")]
    Show {
        /// Print JSON: one object for each key
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        settings: SettingsArgs,
        #[command(flatten)]
        execution: ExecutionArgs,
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

/// Make a page for a browser of the steps of a query
#[derive(Debug, Args)]
#[command(
    after_help = "The page is one file that loads nothing.\n\nExample:\n  remit report t.jsonl -o \
                        report.html"
)]
pub(crate) struct ReportArgs {
    /// The steps, as rlm --trajectory writes them
    pub(crate) trajectory: PathBuf,
    /// The page
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Ends with 0 where child processes can be confined, and with 1 where they can't."
)]
pub(crate) struct DoctorArgs {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Configuration file (TOML), for sandbox.docker
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
