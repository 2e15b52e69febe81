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
    pub(crate) orchestration: OrchestrationArgs,
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

/// A plan of independent sub-tasks instead of one task.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Orchestration")]
pub(crate) struct OrchestrationArgs {
    /// Run the sub-tasks of a plan side by side, each in a chain of its own
    #[arg(long, requires = "delegation_plan", conflicts_with_all = ["task", "results", "system"])]
    pub(crate) orchestrate: bool,
    /// The plan: {"sub_tasks": [{"id": "a", "task": "…", "allow_tools": ["…"]}, …]}
    #[arg(long, value_name = "FILE", requires = "orchestrate")]
    pub(crate) delegation_plan: Option<PathBuf>,
    /// The most sub-tasks that a plan may have
    #[arg(long, value_name = "N", default_value_t = 4, requires = "orchestrate")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) max_sub_agents: u64,
    /// The time of all sub-tasks together, in milliseconds
    #[arg(long, value_name = "N", default_value_t = 30_000, requires = "orchestrate")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    pub(crate) max_orchestration_budget_ms: u64,
    /// Let sub-tasks call this of what is allowed, and nothing else; repeat for more
    #[arg(long, value_name = "NAME", requires = "orchestrate")]
    pub(crate) sub_agent_allow_tool: Vec<String>,
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
