//! `remit exec`.

use std::path::PathBuf;

use clap::Args;

use super::{ExecutionArgs, SettingsArgs};

/// Execute recorded calls, and print one result a line
#[derive(Debug, Args)]
#[command(
    after_help = "A call is one line of JSON, in the OpenAI, Anthropic or flat shape:\n  {\"id\": \
                        \"1\", \"name\": \"read_file_in_workdir\", \"arguments\": {\"path\": \
                        \"notes.txt\"}}\nResults come in the order of the calls. Exit code 0: every \
                        line was answered, also by refusals.\n\nExamples:\n  remit exec \
                        --execute-tools --allow-tool read_file_in_workdir --exec-workdir . \
                        calls.jsonl\n  make-calls | remit exec --execute-tools --allow-tool \
                        search_in_workdir --exec-workdir ."
)]
pub(crate) struct ExecArgs {
    /// The calls; standard input where it is absent or "-"
    #[arg(value_name = "CALLS.jsonl")]
    pub(crate) calls: Option<PathBuf>,
    /// End with 1 if any result is an error
    #[arg(long)]
    pub(crate) fail_on_error: bool,
    /// Results as JSON on a terminal too; in a pipe or a file they always are
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
}
