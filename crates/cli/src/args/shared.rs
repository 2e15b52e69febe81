//! Flags that several commands have.

use std::path::PathBuf;

use clap::Args;

/// Where settings come from, and which tools exist.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SettingsArgs {
    /// Configuration file (TOML); flags win over REMIT_* variables, and those over the file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Tool definitions, in the OpenAI, Anthropic, MCP or flat shape: only these tools then exist
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
}

/// What may be executed, and within which bounds.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Execution")]
pub(crate) struct ExecutionArgs {
    /// Execute calls; without it nothing runs
    #[arg(long)]
    pub(crate) execute_tools: bool,
    /// Allow a tool, or one operation of it (tool.op); repeat for more
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_tool: Vec<String>,
    /// Ask a person on the terminal before every call of an allowed tool; where there is no terminal
    /// the call is refused; repeat for more
    #[arg(long, value_name = "NAME")]
    pub(crate) ask_tool: Vec<String>,
    /// The time of one call in milliseconds [default: the tool's own ceiling, or 5000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) exec_timeout_ms: Option<u64>,
    /// The most bytes of one call's output [default: 65536]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) exec_max_output_bytes: Option<u64>,
    /// The most bytes of one call's arguments [default: 8192]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) exec_max_args_bytes: Option<u64>,
    /// The directory of the tools that read files
    #[arg(long, value_name = "DIR")]
    pub(crate) exec_workdir: Option<PathBuf>,
    /// Append every decision to this file, chained by hashes
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// Calls that run side by side [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) jobs: Option<usize>,
}
