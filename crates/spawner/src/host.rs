//! What a pool needs of the program around it: variables by name, and what chains of our own are made of.

use std::{ffi::OsString, fmt, sync::Arc};

use chain::{ChainLimits, ContextPolicy};
use model::{Model, Sampling};
use tokio_util::sync::CancellationToken;
use tool_core::{AuthorizationScope, Tool, ToolResultProvider, ToolSpec};

/// The program around a pool. It decides nothing about agents.
pub trait AgentHost: fmt::Debug + Send + Sync {
    /// A variable of the program's environment. Asked only for names that the operator wrote down, and
    /// for `PATH`.
    fn variable(&self, name: &str) -> Option<OsString>;

    /// The scope of these capabilities, closed as a registry closes it.
    ///
    /// # Errors
    /// A name that no tool has, in words for the caller.
    fn scope(&self, capabilities: &[String]) -> Result<AuthorizationScope, String>;

    /// What a chain is made of. What it gives is used within the scope, whatever it is.
    ///
    /// # Errors
    /// There is no model, or something else is missing, in words for the caller.
    fn chain(&self, request: ChainRequest<'_>) -> Result<ChainParts, String>;
}

/// A chain that is about to be made.
#[derive(Debug)]
#[non_exhaustive]
pub struct ChainRequest<'a> {
    /// The model's name, where one was asked for.
    pub model: Option<&'a str>,
    /// What the chain may call.
    pub scope: &'a AuthorizationScope,
    /// The tool `subagent` of this chain, where its scope holds some of it.
    pub subagent: Option<Arc<dyn Tool>>,
    /// Cancels its calls.
    pub cancellation: CancellationToken,
}

/// What a chain is made of.
#[derive(Clone)]
pub struct ChainParts {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Who answers calls.
    pub results: Arc<dyn ToolResultProvider>,
    /// The tools on offer.
    pub offered: Vec<ToolSpec>,
    /// How replies are drawn.
    pub sampling: Sampling,
    /// The limits of a chain; they are narrowed further.
    pub limits: ChainLimits,
    /// What happens when the conversation does not fit.
    pub context: ContextPolicy,
}

impl fmt::Debug for ChainParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offered: Vec<_> = self.offered.iter().map(|spec| spec.name().as_str()).collect();
        f.debug_struct("ChainParts")
            .field("model", &self.model.name())
            .field("offered", &offered)
            .finish_non_exhaustive()
    }
}

/// A program that passes on no variable, has no tools and no model.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl AgentHost for NoHost {
    fn variable(&self, _name: &str) -> Option<OsString> {
        None
    }

    fn scope(&self, capabilities: &[String]) -> Result<AuthorizationScope, String> {
        AuthorizationScope::new(capabilities).map_err(|error| error.to_string())
    }

    fn chain(&self, _request: ChainRequest<'_>) -> Result<ChainParts, String> {
        Err("no model is configured here".to_owned())
    }
}
