//! `remit agent`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ExecutionArgs, SettingsArgs};

/// Drive a model: its calls are executed, its results go back, until it answers
#[derive(Debug, Args)]
#[command(
    after_help = "Without --execute-tools and --results the calls of the first reply are printed, one a \
                  line, and\nnothing runs. The key of the model comes from OPENAI_API_KEY or \
                  ANTHROPIC_API_KEY.\n\nExamples:\n  remit agent \"What is in notes.txt?\" --model \
                  qwen3:8b --model-url http://127.0.0.1:11434/v1 \\\n    --execute-tools --allow-tool \
                  read_file_in_workdir --exec-workdir .\n  remit agent \"What is in notes.txt?\" \
                  --replay replies.jsonl --tools defs.json | remit exec …"
)]
pub(crate) struct AgentArgs {
    /// What the model is asked; standard input where it is absent or "-"
    pub(crate) task: Option<String>,
    /// Answer calls from a file of recorded results instead of executing them; "-": a person or
    /// program on standard input, with the calls on standard output
    #[arg(long, value_name = "FILE", conflicts_with = "execute_tools")]
    pub(crate) results: Option<PathBuf>,
    /// Print every event as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) chain: ChainArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// The model's name, as its provider calls it
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The base address of the provider
    #[arg(long, value_name = "URL")]
    pub(crate) model_url: Option<String>,
    /// The API that the provider speaks [default: openai]
    #[arg(long, value_name = "API")]
    pub(crate) provider: Option<Provider>,
    /// Replay a model's replies from a file instead of asking one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["model", "model_url", "provider"])]
    pub(crate) replay: Option<PathBuf>,
    /// The sampling temperature, 0 to 2
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub(crate) temperature: Option<f64>,
    /// A seed, where the provider takes one
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: Option<i64>,
    /// The most tokens of one reply
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_tokens: Option<u32>,
    /// Instructions that go before the task
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Provider {
    Openai,
    Anthropic,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Chain")]
pub(crate) struct ChainArgs {
    /// The most turns of the model, 1 to 64 [default: 8]
    #[arg(long, visible_alias = "max-turns", value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_steps: Option<u32>,
    /// The tokens that all turns together may take
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) token_budget: Option<u64>,
    /// The time of the whole chain in milliseconds
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) wall_clock_ms: Option<u64>,
}
