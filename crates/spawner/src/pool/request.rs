//! What is asked for when an agent is started.

use std::{path::PathBuf, time::Duration};

use tool_core::AuthorizationScope;

/// An agent that is to be started. What it leaves open is the operator's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRequest {
    /// What it shall do.
    pub task: String,
    /// Who does it.
    pub provider: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// What its parent holds; what it is given is never more.
    pub parent_scope: AuthorizationScope,
    /// What it asks for; nothing in particular is what the operator says, or all that its parent holds.
    pub allow: Option<Vec<String>>,
    /// Where it works, within the operator's directory.
    pub workdir: Option<PathBuf>,
    /// Its time; never more than the operator's.
    pub timeout: Option<Duration>,
    /// Its tokens; never more than the operator's.
    pub tokens: Option<u64>,
    /// How deep it is; 1: started by the host.
    pub depth: u64,
}

impl AgentRequest {
    /// A task for the default provider, with a parent that holds nothing.
    #[must_use]
    pub fn new(task: impl Into<String>) -> Self {
        Self {
            task: task.into(),
            provider: None,
            model: None,
            parent_scope: AuthorizationScope::empty(),
            allow: None,
            workdir: None,
            timeout: None,
            tokens: None,
            depth: 1,
        }
    }

    /// The same for a named provider.
    #[must_use]
    pub fn with_provider(mut self, provider: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self
    }
}
