//! `[tools.command.NAME]`: a command as a tool.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use rlm_backend::{ProtectionConfig, Requirements};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::{Limits as CallLimits, NameError, ToolSpec};

use super::template::{Template, TemplateError};

/// A command that a model may call by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommandConfig {
    /// What the model reads about it.
    pub description: String,
    /// The program and its arguments; `{name}` stands for an argument of the call. No shell sees it.
    pub argv: Vec<String>,
    /// The JSON Schema of the call's arguments; none are taken where it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<serde_json::Map<String, Value>>,
    /// Whether the working directory may be written.
    pub workdir: WorkdirAccess,
    /// What is protected in the working directory where it may be written.
    pub protection: ProtectionConfig,
    /// Files and directories of the machine that it may read besides.
    pub readable: Vec<PathBuf>,
    /// The network that it has.
    pub network: CommandNetwork,
    /// Environment variables that it gets beside the usual few.
    pub env: BTreeMap<String, String>,
    /// The time of one call, in milliseconds; 5000 where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The memory of all its processes, in bytes; 512 MiB where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The most processes at once; 64 where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// The processor time of all its processes together, in percent of one processor; held by a
    /// control group alone. Not limited where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<u64>,
    /// Mechanisms of the kernel without which it is not started; the others are used where the
    /// machine has them.
    pub require: Requirements,
}

/// What a command may do in the working directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkdirAccess {
    /// Read.
    #[default]
    ReadOnly,
    /// Read and write.
    ReadWrite,
}

/// The network of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandNetwork {
    /// None.
    #[default]
    None,
    /// The host's.
    Host,
}

/// A command that can't be a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandConfigError {
    /// Its name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Its command line is none.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A limit of zero, or an absurd one.
    #[error("{key} is {given}, and must be from 1 to {most}")]
    Limit {
        /// Which.
        key: &'static str,
        /// Its value.
        given: u64,
        /// The largest that is accepted.
        most: u64,
    },
    /// A name that can't be protected.
    #[error("protection: {0}")]
    Protection(#[from] confine::PatternError),
    /// A variable's name that can't be one.
    #[error("env: {0:?} is no name of a variable")]
    Variable(String),
}

impl CommandConfig {
    /// What the model sees.
    pub(super) fn spec(&self, name: &str) -> Result<ToolSpec, CommandConfigError> {
        let closed = || json!({"type": "object", "properties": {}, "additionalProperties": false});
        let parameters = self.parameters.clone().map_or_else(closed, Value::Object);
        let spec = ToolSpec::new(name, self.description.clone(), parameters)?;
        Ok(match self.timeout()? {
            Some(timeout) => spec.with_timeout(timeout),
            None => spec,
        })
    }

    pub(super) fn template(&self) -> Result<Template, CommandConfigError> {
        let properties = self.parameters.as_ref().and_then(|schema| schema.get("properties"));
        let names: BTreeSet<String> = properties
            .and_then(Value::as_object)
            .map(|properties| properties.keys().cloned().collect())
            .unwrap_or_default();
        Ok(Template::parse(&self.argv, &names)?)
    }

    fn timeout(&self) -> Result<Option<Duration>, CommandConfigError> {
        let most = u64::try_from(CallLimits::MAX_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        let ms = within("timeout_ms", self.timeout_ms, most)?;
        Ok(ms.map(Duration::from_millis))
    }

    fn limits(&self) -> Result<confine::Limits, CommandConfigError> {
        let mut limits = confine::Limits::default();
        let memory = within("memory_bytes", self.memory_bytes, 1 << 50)?;
        limits.memory = Some(memory.unwrap_or(512 << 20));
        limits.processes = Some(within("processes", self.processes, 1 << 16)?.unwrap_or(64));
        let share = within("cpu_percent", self.cpu_percent, 100_000)?;
        limits.cpu_share = share.map(|percent| u32::try_from(percent).unwrap_or(u32::MAX));
        Ok(limits)
    }

    /// The confinement of the command in a working directory.
    pub(super) fn confinement(
        &self,
        workdir: &std::path::Path,
    ) -> Result<confine::Confinement, CommandConfigError> {
        let mut confinement = confine::Confinement::builder(workdir)
            .limits(self.limits()?)
            .protection(self.protection.protection()?);
        confinement = self.readable.iter().fold(confinement, confine::Confinement::readable);
        confinement = self.require.of(confinement);
        if self.workdir == WorkdirAccess::ReadOnly {
            confinement = confinement.read_only_workdir();
        }
        if self.network == CommandNetwork::Host {
            confinement = confinement.network(confine::Network::Host);
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(CommandConfigError::Variable(name.clone()));
            }
            confinement = confinement.env(name, value);
        }
        Ok(confinement)
    }
}

fn within(
    key: &'static str,
    given: Option<u64>,
    most: u64,
) -> Result<Option<u64>, CommandConfigError> {
    match given {
        Some(given) if given == 0 || given > most => {
            Err(CommandConfigError::Limit { key, given, most })
        }
        given => Ok(given),
    }
}
