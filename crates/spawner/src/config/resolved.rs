//! A provider with its preset filled in, as agents are started by it.

use std::{collections::BTreeMap, time::Duration};

use super::{
    AgentNetwork, ProviderConfig, ProviderKind, ResultShape, SubagentConfigError, TaskDelivery,
};
use crate::template::Template;

/// The pause before the first restart.
const RESTART_PAUSE: Duration = Duration::from_millis(500);

/// A provider, ready to be used.
#[derive(Debug, Clone)]
pub(crate) struct Provider {
    pub(crate) name: String,
    pub(crate) config: ProviderConfig,
    pub(crate) program: String,
    pub(crate) template: Template,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) delivery: TaskDelivery,
    pub(crate) output: Vec<ResultShape>,
    pub(crate) restart_pause: Duration,
}

impl Provider {
    pub(super) fn of(name: &str, config: &ProviderConfig) -> Result<Self, SubagentConfigError> {
        let preset = config.known_preset(name)?;
        let args = config.args.clone().or_else(|| preset.map(|preset| preset.args.clone()));
        let template = Template::new(&args.unwrap_or_default()).map_err(|error| {
            let (name, message) = (name.to_owned(), error.to_string());
            SubagentConfigError::Provider { name, key: "args", message }
        })?;
        let program =
            config.program.clone().or_else(|| preset.map(|preset| preset.program.clone()));
        let mut env = preset.map(|preset| preset.env.clone()).unwrap_or_default();
        env.extend(config.env.clone());
        let mut config = config.clone();
        if preset.is_some_and(|preset| preset.network) {
            config.network = AgentNetwork::Host;
        }
        let pause = config.restart_pause_ms.map_or(RESTART_PAUSE, Duration::from_millis);
        Ok(Self {
            name: name.to_owned(),
            program: program.unwrap_or_default(),
            template,
            env,
            delivery: config.task.or(preset.map(|preset| preset.task)).unwrap_or_default(),
            output: preset.map(|preset| preset.output.clone()).unwrap_or_default(),
            restart_pause: pause,
            config,
        })
    }

    pub(crate) fn is_llm(&self) -> bool {
        self.config.kind == ProviderKind::Llm
    }
}
