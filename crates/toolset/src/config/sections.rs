//! The sections joined. Each type but `[tools]` is owned by the crate that acts on it.

use std::{collections::BTreeMap, path::PathBuf};

use browser::BrowserConfig;
use chain::ChainConfig;
use model::ModelConfig;
use rlm_backend::{QueryConfig, SandboxConfig};
use sandbox::{AuditConfig, LimitsConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spawner::SubagentConfig;

use crate::command::CommandConfig;

/// Everything an operator can set. Every section and every key has a default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which tools exist, and what may be called.
    pub tools: ToolsConfig,
    /// The ceilings of a call.
    pub limits: LimitsConfig,
    /// The bounds of a chain.
    pub chain: ChainConfig,
    /// The model.
    pub model: ModelConfig,
    /// The audit trail.
    pub audit: AuditConfig,
    /// Code and bash in sessions.
    pub sandbox: SandboxConfig,
    /// Recursive queries: a model that works in a session.
    pub query: QueryConfig,
    /// Sub-agents.
    pub subagent: SubagentConfig,
    /// The web.
    pub browser: BrowserConfig,
}

/// `[tools]`: which tools exist, and what may be called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolsConfig {
    /// A file of tool definitions. With it, only the tools that it declares exist.
    pub definitions: Option<PathBuf>,
    /// Whether calls are executed at all.
    pub execute: bool,
    /// The capabilities that may be called: `tool`, or `tool.op`.
    pub allow: Vec<String>,
    /// The capabilities for which a person is asked before every call.
    pub ask: Vec<String>,
    /// The directory of the tools that read files, and of commands.
    pub workdir: Option<PathBuf>,
    /// Lookup tables: the name of a tool, and its keys with their values.
    pub lookup: BTreeMap<String, BTreeMap<String, String>>,
    /// Commands: the name of a tool, and what it starts under confinement.
    pub command: BTreeMap<String, CommandConfig>,
}
