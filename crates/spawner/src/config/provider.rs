//! `[subagent.providers.NAME]`: one kind of agent, as the operator writes it.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    SubagentConfigError,
    error::check_ranges,
    preset::{self, Preset},
};
use crate::template::Template;

/// `[subagent.providers.NAME]`: a program, or a chain of our own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderConfig {
    /// `agent`: a program; `llm`: a chain of our own, in this process.
    pub kind: ProviderKind,
    /// A known program, whose flags are filled in.
    pub preset: Option<String>,
    /// The program: a name, or a path.
    pub program: Option<String>,
    /// Its arguments. `{task}`, `{task_file}`, `{model}` and `{workdir}` are filled in; `{allow}`, as
    /// an argument of its own, becomes the flags of `remit agent` for the scope.
    pub args: Option<Vec<String>>,
    /// How the task gets there.
    pub task: Option<TaskDelivery>,
    /// The model of a call that names none.
    pub model: Option<String>,
    /// The network that the program has.
    pub network: AgentNetwork,
    /// The capabilities without which it has no network after all.
    pub network_needs: Vec<String>,
    /// What the program may do in its directory.
    pub workdir_access: WorkdirAccess,
    /// The capabilities without which it can only read there after all.
    pub write_needs: Vec<String>,
    /// What else the program can read.
    pub readable: Vec<PathBuf>,
    /// What else the program can write.
    pub writable: Vec<PathBuf>,
    /// The variables of our environment that are passed on, by name.
    pub credentials: Vec<String>,
    /// Variables of the program; `{workdir}` and `{model}` are filled in.
    pub env: BTreeMap<String, String>,
    /// The memory of all processes of an agent, in bytes.
    pub memory_bytes: Option<u64>,
    /// The most processes and threads of an agent.
    pub processes: Option<u64>,
    /// The processor time of each process, in seconds.
    pub cpu_secs: Option<u64>,
    /// The largest file that is written, in bytes.
    pub file_bytes: Option<u64>,
    /// The time of an agent, in seconds; never more than the section's.
    pub timeout_secs: Option<u64>,
    /// What an agent may call that asks for nothing.
    pub allow: Option<Vec<String>>,
    /// The provider that is used where the program is missing.
    pub fallback: Option<String>,
    /// How often an agent that failed is started again.
    pub restarts: u64,
    /// The pause before the first restart, in milliseconds; it doubles with each.
    pub restart_pause_ms: Option<u64>,
    /// Whether an agent has a working tree of its own.
    pub isolate: Isolation,
}

/// What an agent is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// A program.
    #[default]
    Agent,
    /// A chain of our own.
    Llm,
}

/// How the task gets to a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskDelivery {
    /// On standard input.
    #[default]
    Stdin,
    /// In the arguments, where `{task}` stands.
    Argument,
    /// In a file, whose path stands where `{task_file}` does.
    File,
}

/// The network of a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentNetwork {
    /// None.
    #[default]
    None,
    /// The host's.
    Host,
}

/// What a program may do in its directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkdirAccess {
    /// Read.
    #[default]
    ReadOnly,
    /// Read and write.
    ReadWrite,
}

/// Whether an agent has a working tree of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// It works in the directory itself.
    #[default]
    None,
    /// It works in a git worktree, made for it.
    Worktree,
}

impl ProviderConfig {
    pub(super) fn check(&self, name: &str) -> Result<(), SubagentConfigError> {
        let most = 1 << 50;
        let ranges = [
            ("memory_bytes", self.memory_bytes.unwrap_or(1 << 20), 1 << 20, most),
            ("processes", self.processes.unwrap_or(1), 1, 1 << 16),
            ("cpu_secs", self.cpu_secs.unwrap_or(1), 1, most),
            ("file_bytes", self.file_bytes.unwrap_or(1), 1, most),
            ("timeout_secs", self.timeout_secs.unwrap_or(1), 1, super::MONTH),
            ("restarts", self.restarts, 0, 100),
            ("restart_pause_ms", self.restart_pause_ms.unwrap_or(1), 1, 600_000),
        ];
        check_ranges(Some(name), &ranges)?;
        match self.kind {
            ProviderKind::Agent => self.check_agent(name),
            ProviderKind::Llm => self.check_llm(name),
        }
    }

    fn check_llm(&self, name: &str) -> Result<(), SubagentConfigError> {
        let unused = [
            ("program", self.program.is_some()),
            ("preset", self.preset.is_some()),
            ("args", self.args.is_some()),
            ("credentials", !self.credentials.is_empty()),
            ("isolate", self.isolate != Isolation::None),
        ];
        match unused.into_iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => Err(wrong(name, key, "means nothing where kind is \"llm\"")),
            None => Ok(()),
        }
    }

    fn check_agent(&self, name: &str) -> Result<(), SubagentConfigError> {
        let preset = self.known_preset(name)?;
        if self.program.is_none() && preset.is_none() {
            return Err(wrong(name, "program", "a program or a preset is needed"));
        }
        let args = self.args.as_deref().or(preset.map(|preset| preset.args.as_slice()));
        let delivery = self.task.or(preset.map(|preset| preset.task)).unwrap_or_default();
        let template = Template::new(args.unwrap_or_default());
        let template = template.map_err(|error| wrong(name, "args", error.to_string()))?;
        template.check_task(delivery).map_err(|error| wrong(name, "args", error.to_string()))
    }

    /// The preset that is named.
    pub(super) fn known_preset(
        &self,
        name: &str,
    ) -> Result<Option<&'static Preset>, SubagentConfigError> {
        let Some(asked) = &self.preset else { return Ok(None) };
        let known = preset::find(asked).ok_or_else(|| {
            let valid: Vec<_> = preset::presets().keys().map(String::as_str).collect();
            wrong(name, "preset", format!("no preset {asked:?} (valid: {})", valid.join(", ")))
        })?;
        Ok(Some(known))
    }
}

/// A mistake in one provider.
fn wrong(name: &str, key: &'static str, message: impl Into<String>) -> SubagentConfigError {
    SubagentConfigError::Provider { name: name.to_owned(), key, message: message.into() }
}
