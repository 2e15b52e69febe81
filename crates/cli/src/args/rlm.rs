//! `remit rlm`.

use std::path::PathBuf;

use clap::Args;

use super::{ExecutionArgs, SettingsArgs, agent::ModelArgs};

/// Ask a question about a text of any length: a model answers by writing code in a session
#[derive(Debug, Args)]
#[command(
    after_help = "The model never sees the text as a whole. Its code, which runs confined and without a \
                  network, looks\nat it and asks the model about parts of it. With --execute-tools, \
                  allowed tools can be called by\nthe code too. Ends with 1 where there is no \
                  answer.\n\nExamples:\n  remit rlm \"Which errors are new since Monday?\" --context \
                  app.log --model qwen3:32b \\\n    --leaf-model qwen3:4b --model-url \
                  http://127.0.0.1:11434/v1\n  cat book.txt | remit rlm \"Who is the murderer?\" \
                  --context - --model gpt-5 --trajectory t.jsonl"
)]
pub(crate) struct RlmArgs {
    /// The question
    pub(crate) question: String,
    /// The text that it is about: a file, or "-" for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) context: Option<PathBuf>,
    /// Append every step to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) trajectory: Option<PathBuf>,
    /// Go on with a query whose steps are in this file: what was answered is not asked again
    #[arg(long, value_name = "FILE", conflicts_with = "trajectory")]
    pub(crate) resume: Option<PathBuf>,
    /// Print every step as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Query")]
pub(crate) struct QueryArgs {
    /// The model that code asks, at the same provider [default: the same model]
    #[arg(long, value_name = "NAME")]
    pub(crate) leaf_model: Option<String>,
    /// The most turns of a query [default: 30]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_iterations: Option<u64>,
    /// The most calls of a model by code [default: 1000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_sub_calls: Option<u64>,
    /// How many levels of queries may be below the first [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_depth: Option<u64>,
    /// The tokens of everything together [default: 100000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) token_budget: Option<u64>,
    /// The time of everything together in seconds [default: 300]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) time_secs: Option<u64>,
}
