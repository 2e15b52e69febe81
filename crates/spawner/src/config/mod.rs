//! `[subagent]`: what an operator can set of sub-agents, and what of it makes no sense.

mod error;
mod preset;
mod provider;
mod resolved;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    error::SubagentConfigError,
    preset::{Preset, presets},
    provider::{
        AgentNetwork, Isolation, ProviderConfig, ProviderKind, TaskDelivery, WorkdirAccess,
    },
};
pub(crate) use self::{preset::ResultShape, resolved::Provider};

const MONTH: u64 = 30 * 24 * 60 * 60;

/// `[subagent]`: sub-agents. A bound of this section is the operator's: no call can raise it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SubagentConfig {
    /// Whether the tool exists.
    pub enabled: bool,
    /// The provider of a call that names none; where absent, the only one.
    pub provider: Option<String>,
    /// Who can be started: a name, and a program or a chain of our own.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// What a sub-agent may call that asks for nothing: a part of what its parent holds. Where absent, all of that.
    pub allow: Option<Vec<String>>,
    /// The directory of sub-agents; where absent, `tools.workdir`, or else a private one for each.
    pub workdir: Option<PathBuf>,
    /// The folder of the records and the output; where absent, the user's state folder.
    pub state_dir: Option<PathBuf>,
    /// The most agents that live at once.
    pub max_live: u64,
    /// The most agents that are started within a day with one state folder.
    pub max_total: u64,
    /// How deep agents may start agents; 1: sub-agents start none.
    pub max_depth: u64,
    /// The time of one agent, in seconds.
    pub timeout_secs: u64,
    /// The time of all agents that are started within a day with one state folder, in seconds.
    pub total_time_secs: u64,
    /// The tokens of one agent that is a chain of our own.
    pub max_tokens: u64,
    /// The tokens of all agents that are started within a day with one state folder.
    pub total_tokens: u64,
    /// The bytes of output that are kept of one agent.
    pub max_output_bytes: u64,
    /// The bytes of output that are kept of all agents that are started within a day with one state folder.
    pub total_output_bytes: u64,
    /// The time from SIGTERM to SIGKILL, in milliseconds.
    pub grace_ms: u64,
    /// An agent without output for so many seconds is marked as stalled.
    pub stall_secs: u64,
}

impl Default for SubagentConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            provider: None,
            providers: BTreeMap::new(),
            allow: None,
            workdir: None,
            state_dir: None,
            max_live: 4,
            max_total: 64,
            max_depth: 1,
            timeout_secs: 600,
            total_time_secs: 4 * 60 * 60,
            max_tokens: 100_000,
            total_tokens: 1_000_000,
            max_output_bytes: 16 << 20,
            total_output_bytes: 256 << 20,
            grace_ms: 2000,
            stall_secs: 120,
        }
    }
}

impl SubagentConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// The first that can't be used.
    pub fn check(&self) -> Result<(), SubagentConfigError> {
        let ranges = [
            ("max_live", self.max_live, 0, 4096),
            ("max_total", self.max_total, 0, 1 << 20),
            ("max_depth", self.max_depth, 1, 8),
            ("timeout_secs", self.timeout_secs, 1, MONTH),
            ("total_time_secs", self.total_time_secs, 1, 64 * MONTH),
            ("max_tokens", self.max_tokens, 1, 1_000_000_000_000),
            ("total_tokens", self.total_tokens, 1, 1_000_000_000_000),
            ("max_output_bytes", self.max_output_bytes, 1024, 1 << 40),
            ("total_output_bytes", self.total_output_bytes, 1024, 1 << 44),
            ("grace_ms", self.grace_ms, 1, 600_000),
            ("stall_secs", self.stall_secs, 1, MONTH),
        ];
        error::check_ranges(None, &ranges)?;
        for (name, provider) in &self.providers {
            provider.check(name)?;
            self.check_named(name, provider.fallback.as_deref())?;
        }
        self.check_named("", self.provider.as_deref())
    }

    /// A provider that is named must be there.
    fn check_named(&self, of: &str, named: Option<&str>) -> Result<(), SubagentConfigError> {
        match named {
            Some(name) if !self.providers.contains_key(name) => {
                let valid = self.providers.keys().cloned().collect::<Vec<_>>().join(", ");
                Err(SubagentConfigError::UnknownProvider {
                    of: of.to_owned(),
                    name: name.to_owned(),
                    valid,
                })
            }
            _ => Ok(()),
        }
    }

    /// Every provider with its preset filled in.
    pub(crate) fn resolve(&self) -> Result<BTreeMap<String, Provider>, SubagentConfigError> {
        let all = self.providers.iter();
        all.map(|(name, config)| Ok((name.clone(), Provider::of(name, config)?))).collect()
    }

    /// The provider of a call that names none.
    pub(crate) fn default_provider(&self) -> Option<&str> {
        let only = || match self.providers.len() {
            1 => self.providers.keys().next(),
            _ => None,
        };
        self.provider.as_ref().or_else(only).map(String::as_str)
    }

    pub(crate) fn grace(&self) -> Duration {
        Duration::from_millis(self.grace_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), String> {
        let config: SubagentConfig = toml::from_str(text).map_err(|error| error.to_string())?;
        config.check().map_err(|error| format!("{}: {error}", error.key()))
    }

    #[test]
    fn the_defaults_and_a_whole_section_are_fine() {
        SubagentConfig::default().check().unwrap();
        check(
            "provider = \"a\"\n[providers.a]\nprogram = \"cat\"\nargs = [\"-\"]\ntask = \"stdin\"\n\
             fallback = \"b\"\n[providers.b]\npreset = \"claude\"\n[providers.c]\nkind = \"llm\"\n",
        )
        .unwrap();
    }

    #[test]
    fn a_mistake_names_its_key() {
        let cases = [
            ("max_depth = 0", "max_depth"),
            ("grace_ms = 0", "grace_ms"),
            ("provider = \"x\"", "provider"),
            ("[providers.a]\nprogram = \"x\"\nfallback = \"b\"", "providers.a.fallback"),
            ("[providers.a]\nargs = []", "providers.a.program"),
            ("[providers.a]\npreset = \"claud\"", "providers.a.preset"),
            ("[providers.a]\nprogram = \"x\"\ntask = \"argument\"", "providers.a.args"),
            (
                "[providers.a]\nprogram = \"x\"\ntask = \"argument\"\nargs = [\"{task}\"]",
                "providers.a.args",
            ),
            ("[providers.a]\nprogram = \"x\"\nargs = [\"{tusk}\"]", "providers.a.args"),
            ("[providers.a]\nkind = \"llm\"\nprogram = \"x\"", "providers.a.program"),
            ("[providers.a]\nprogram = \"x\"\nmemory_bytes = 0", "providers.a.memory_bytes"),
        ];
        for (text, key) in cases {
            let error = check(text).unwrap_err();
            assert!(error.starts_with(&format!("{key}: ")), "{text}: {error}");
        }
    }
}
