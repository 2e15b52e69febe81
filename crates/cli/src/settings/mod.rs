//! What the flags, the environment and the file mean together.
//!
//! Contradictions and useless combinations are refused here, with the name of the flag, before any
//! model is contacted and before anything runs.

mod layers;
mod scope;

use std::{error::Error, sync::Arc};

use rlm_backend::QueryModels;
use spawner::AgentHost;
use tool_core::{Tool, ToolRegistry};
use toolset::{Config, LayeredConfig, Origin, Toolset, ToolsetError, create_default_registry};

pub(crate) use self::layers::Layers;
use crate::{env, failure::Failure};

/// The settings of one run, and where each came from.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) layered: LayeredConfig,
}

/// Keys that mean nothing where nothing is executed, with their flags.
const NEED_EXECUTION: [(&str, &str); 8] = [
    ("tools.allow", "--allow-tool"),
    ("tools.ask", "--ask-tool"),
    ("tools.workdir", "--exec-workdir"),
    ("audit.file", "--audit"),
    ("limits.timeout_ms", "--exec-timeout-ms"),
    ("limits.max_output_bytes", "--exec-max-output-bytes"),
    ("limits.max_args_bytes", "--exec-max-args-bytes"),
    ("limits.jobs", "--jobs"),
];

impl Settings {
    pub(crate) fn config(&self) -> &Config {
        self.layered.config()
    }

    /// Whether anybody set the key.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.layered.origin(key) != Origin::Default
    }

    /// Whether a flag set the key.
    fn is_flag(&self, key: &str) -> bool {
        matches!(self.layered.origin(key), Origin::Flag(_))
    }

    /// A mistake, told with where the value came from.
    pub(crate) fn mistake(&self, key: &str, message: &str) -> Failure {
        match self.layered.origin(key) {
            Origin::Default => Failure::Operator(message.to_owned()),
            origin @ Origin::Flag(_) => Failure::Operator(format!("{origin}: {message}")),
            origin => Failure::Operator(format!("{origin}: {key}: {message}")),
        }
    }

    /// A mistake in a section, whose text begins with the key: `max_turns is 0, …`, `the model url …`.
    pub(crate) fn wrong(&self, section: &str, error: &dyn Error) -> Failure {
        let text = Failure::operator(error).to_string();
        let named = text.strip_prefix("the ").unwrap_or(&text);
        let named = named.strip_prefix(section).unwrap_or(named).trim_start_matches(['.', ' ']);
        let name = named.split([' ', ':']).next().unwrap_or_default();
        let key = format!("{section}.{name}");
        match self.layered.origin(&key) {
            Origin::Default => Failure::Operator(text),
            origin => Failure::Operator(format!("{origin}: {text}")),
        }
    }

    /// The tools that exist.
    pub(crate) fn registry(&self) -> Result<ToolRegistry, Failure> {
        create_default_registry(self.config()).map_err(|error| self.unmade(&error))
    }

    /// The tools that exist, over sub-agents that can be started, with recursive queries that ask these
    /// models.
    pub(crate) fn toolset(
        &self,
        host: Arc<dyn AgentHost>,
        models: Result<QueryModels, String>,
    ) -> Result<Toolset, Failure> {
        let mut config = self.config().clone();
        config.subagent.state_dir = config.subagent.state_dir.or_else(env::agents_folder);
        Toolset::with_queries(&config, host, models).map_err(|error| self.unmade(&error))
    }

    /// The tools of a sub-agent.
    pub(crate) fn agent_registry(
        &self,
        subagent: Option<Arc<dyn Tool>>,
    ) -> Result<ToolRegistry, Failure> {
        let toolset = Toolset::for_agent(self.config(), subagent);
        toolset.map(Toolset::into_registry).map_err(|error| self.unmade(&error))
    }

    fn unmade(&self, error: &ToolsetError) -> Failure {
        self.mistake(&error.key(), &Failure::operator(error).to_string())
    }

    /// Refuses flags that need `--execute-tools` where it is missing. What stands in a file is only
    /// not used.
    pub(crate) fn check_idle(&self) -> Result<(), Failure> {
        match NEED_EXECUTION.iter().find(|(key, _)| self.is_flag(key)) {
            None => Ok(()),
            Some((_, flag)) => Err(Failure::Operator(format!(
                "{flag} needs --execute-tools: without it nothing is executed"
            ))),
        }
    }
}
