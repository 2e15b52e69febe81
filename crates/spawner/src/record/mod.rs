//! What is known of an agent, now and after its end, and the file that outlives its host.

mod result;
mod state;
mod store;

use serde::{Deserialize, Serialize};
use tool_core::ExitStatus;

pub use self::{result::AgentResult, state::AgentState, store::AgentLog};
pub(crate) use self::{
    result::parse,
    store::{Store, now_ms, output_path, request_path},
};
use crate::AgentId;

/// What is known of an agent. One line of the state file is one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentRecord {
    /// Its id.
    pub id: AgentId,
    /// Its provider.
    pub provider: String,
    /// The provider that was asked for, where another took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_for: Option<String>,
    /// Its model, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The beginning of its task, secrets removed.
    pub task: String,
    /// The agent that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
    /// How deep it is; 1: started by the host.
    pub depth: u64,
    /// What it may call.
    pub scope: Vec<String>,
    /// Where it works.
    pub workdir: String,
    /// Its state.
    pub state: AgentState,
    /// The first process of its tree; none for a chain of our own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How its program ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<ExitStatus>,
    /// Why it is in its state, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it was started: milliseconds since 1970.
    pub started_ms: u64,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// The time that it has.
    pub timeout_ms: u64,
    /// The tokens that it has, where it is a chain of our own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How many bytes it wrote on standard output.
    pub stdout_bytes: u64,
    /// How many bytes it wrote on standard error.
    pub stderr_bytes: u64,
    /// How many bytes of its output are kept; known at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_bytes: Option<u64>,
    /// How often it was started again.
    pub restarts: u64,
    /// The tokens that it took, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What it cost, in US dollars, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The name under which its program can go on, where it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The branch and folder of its working tree, where they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}
