//! What sub-agents need of this program: named variables, and chains within a scope.
//!
//! A chain of a sub-agent has tools of its own, and the operator's limits, audit trail and questions to a
//! person: nothing that holds for a call of the parent does not hold for one of the agent.

use std::{
    ffi::OsString,
    fmt,
    sync::{Arc, OnceLock, Weak},
};

use model::{Model, Sampling, ScriptedModel};
use sandbox::{AuditLog, SandboxedToolProvider, ToolSandbox};
use spawner::{AgentHost, ChainParts, ChainRequest};
use tool_core::{AuthorizationScope, Limits, ToolRegistry};

use crate::{approver::TerminalApprover, env, settings::Settings};

/// How many calls of one turn of a sub-agent run side by side.
const SIDE_BY_SIDE: usize = 8;

/// This program, as sub-agents see it.
pub(crate) struct Host {
    settings: Settings,
    limits: Limits,
    approver: TerminalApprover,
    audit: Option<AuditLog>,
    /// The tools that names are looked up in. Weak: they hold the agents, which hold this.
    registry: OnceLock<Weak<ToolRegistry>>,
    /// A script that every chain replays from its beginning, instead of asking a model.
    replay: OnceLock<String>,
}

impl Host {
    pub(crate) fn new(
        settings: Settings,
        limits: Limits,
        approver: TerminalApprover,
        audit: Option<AuditLog>,
    ) -> Self {
        let (registry, replay) = (OnceLock::new(), OnceLock::new());
        Self { settings, limits, approver, audit, registry, replay }
    }

    /// Tells in what names are looked up.
    pub(crate) fn knows(&self, registry: &Arc<ToolRegistry>) {
        self.registry.get_or_init(|| Arc::downgrade(registry));
    }

    /// Has every chain replay a script.
    pub(crate) fn replays(&self, script: String) {
        self.replay.get_or_init(|| script);
    }

    fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>, String> {
        if let Some(script) = self.replay.get() {
            let model = ScriptedModel::from_jsonl("replay", script);
            return Ok(Arc::new(model.map_err(|error| error.to_string())?));
        }
        let mut config = self.settings.config().model.clone();
        if let Some(name) = name {
            config.name = Some(name.to_owned());
        }
        if config.name.is_none() {
            return Err("no model is configured: name one, or set model.name".to_owned());
        }
        let key = env::api_key(config.key_env()).map_err(|error| error.to_string())?;
        config.build(key).map_err(|error| error.to_string())
    }

    /// The calls for which a person is asked. A name that is not there can't be called.
    fn ask(&self, registry: &ToolRegistry) -> Result<AuthorizationScope, String> {
        let asked = self.settings.config().tools.ask.iter();
        let is_there = |name: &&String| {
            let tool = name.split_once('.').map_or(name.as_str(), |(tool, _)| tool);
            registry.has(name) || registry.has(tool)
        };
        registry.scope(asked.filter(is_there)).map_err(|error| error.to_string())
    }
}

impl AgentHost for Host {
    fn variable(&self, name: &str) -> Option<OsString> {
        env::named(name)
    }

    fn scope(&self, capabilities: &[String]) -> Result<AuthorizationScope, String> {
        let registry = self.registry.get().and_then(Weak::upgrade);
        let registry = registry.ok_or("there are no tools any more")?;
        registry.scope(capabilities).map_err(|error| error.to_string())
    }

    fn chain(&self, request: ChainRequest<'_>) -> Result<ChainParts, String> {
        let config = self.settings.config();
        let registry = self.settings.agent_registry(request.subagent);
        let registry = Arc::new(registry.map_err(|error| error.to_string())?);
        let ask = self.ask(&registry)?;
        let mut sandbox = ToolSandbox::new(registry, request.scope.clone(), self.limits)
            .with_cancellation(request.cancellation)
            .with_approval(ask, Arc::new(self.approver.clone()));
        if let Some(audit) = &self.audit {
            sandbox = sandbox.with_audit(audit.clone());
        }
        let sandbox = Arc::new(sandbox);
        let (temperature, seed) = (config.model.temperature, config.model.seed);
        Ok(ChainParts {
            model: self.model(request.model)?,
            offered: sandbox.offered(),
            results: Arc::new(SandboxedToolProvider::new(sandbox, SIDE_BY_SIDE)),
            sampling: Sampling { temperature, seed, max_tokens: config.model.max_tokens },
            limits: config.chain.limits().map_err(|error| error.to_string())?,
            context: config.chain.context_policy().map_err(|error| error.to_string())?,
        })
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("limits", &self.limits).finish_non_exhaustive()
    }
}
