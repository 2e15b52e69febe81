//! `remit exec`.

use std::path::PathBuf;

use clap::Args;

use super::{ExecutionArgs, SettingsArgs};

/// Executes recorded calls, one JSON object a line, in the OpenAI, Anthropic or flat shape. Prints one
/// result a line, in the order of the calls. Ends with 0 when every line was answered, also by a
/// refusal.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  remit exec --execute-tools --allow-tool read_file_in_workdir \
                        --exec-workdir . calls.jsonl")]
pub(crate) struct ExecArgs {
    /// The calls; standard input where it is absent or "-"
    #[arg(value_name = "CALLS.jsonl")]
    pub(crate) calls: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
    /// End with 1 if any result is an error
    #[arg(long)]
    pub(crate) fail_on_error: bool,
    /// Results are JSON anyway; for symmetry with the other commands
    #[arg(long, hide = true)]
    pub(crate) json: bool,
}
