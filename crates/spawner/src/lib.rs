//! Sub-agents: a pool of handles with narrowed scope and budgets, and a tool over it.
//!
//! [`SubagentTool`] is the tool `subagent` that a model calls, over an [`AgentPool`], which Rust
//! programs use without it. A pool starts agents by their providers: programs, each in a confinement of
//! its own, and chains of our own in this process. It narrows what they may call, keeps them within the
//! operator's bounds, captures what they write, and ends them. [`AgentHandle`] is one agent; dropping
//! it ends the agent and everything it started. [`orchestrate`] runs a plan of independent sub-tasks as
//! chains side by side.
//!
//! Guaranteed: an agent never holds more than its parent, at any depth; no call raises a bound; a task
//! never meets a shell and is never taken for a flag; what is written is kept in order, read by offset,
//! in bounded memory, secrets removed before they reach the file; asking for a status never waits; an
//! agent that ends takes its whole tree along, and so does a host that is killed; what was known of an
//! agent is known after a restart.
//!
//! Left out on purpose: agents that talk to each other, terminals for agents, machines other than this
//! one. Linux only; elsewhere the crate is empty.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use spawner::{AgentPool, AgentRequest, Collect, NoHost, SubagentConfig};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let config: SubagentConfig = toml::from_str(
//!     r#"[providers.count]
//!        program = "wc"
//!        args = ["-w"]"#,
//! )?;
//! let pool = AgentPool::new(config, Arc::new(NoHost))?;
//! let id = pool.spawn(AgentRequest::new("three little words")).await?;
//! let ended = pool.checkout(id)?.wait().await;
//! println!("{}: {:?}", ended.state, pool.collect(id, Collect::default()).await?.output);
//! # Ok(())
//! # }
//! ```
#![cfg(target_os = "linux")]

mod agent;
mod capture;
mod config;
mod host;
mod id;
mod orchestrate;
mod pool;
mod record;
mod scope;
mod template;
mod tool;
mod worktree;

pub use agent::{AgentHandle, Collect, Collected, LaunchError};
pub use capture::{Output, OutputPiece, OutputStream, redacted, without_ansi};
pub use config::{
    AgentNetwork, Isolation, Preset, ProviderConfig, ProviderKind, SubagentConfig,
    SubagentConfigError, TaskDelivery, WorkdirAccess, presets,
};
pub use host::{AgentHost, ChainParts, ChainRequest, NoHost};
pub use id::{AgentId, MalformedId};
pub use orchestrate::{
    CheckedPlan, DelegationPlan, OrchestrationBounds, PlanError, SubOutcome, SubStatus, SubTask,
    orchestrate,
};
pub use pool::{AgentError, AgentPool, AgentRequest, PoolError, SpawnError};
pub use record::{AgentLog, AgentRecord, AgentResult, AgentState};
pub use scope::{ScopeError, narrow};
pub use tool::{SubagentTool, SubagentToolError};
pub use worktree::WorktreeError;
