//! A tool chain: what it is made of, and what comes out of it.
//!
//! [`ToolChain`] holds the model, the source of results and the settings; [`ToolChain::run`] drives
//! one conversation. The loop itself is in `run`, one turn of it in `turn`.

use std::{fmt, sync::Arc};

use model::{Message, Model, Sampling};
use tokio_util::sync::CancellationToken;
use tool_core::{ToolResultProvider, ToolSpec};

use crate::{
    ChainLimits, ChainMetrics, ChainObserver, ContextPolicy, StopReason, context::check_pairs,
    run::Run,
};

/// A model, a source of results, and the limits within which they talk.
#[derive(Clone)]
pub struct ToolChain {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) provider: Arc<dyn ToolResultProvider>,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) sampling: Sampling,
    pub(crate) limits: ChainLimits,
    pub(crate) context: ContextPolicy,
}

/// What a chain gives, whatever stopped it.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainOutcome {
    /// Why it stopped.
    pub stop: StopReason,
    /// The text of the model's last reply, where that was its answer.
    pub answer: Option<String>,
    /// The whole conversation, the messages given at the start and everything evicted included. Every
    /// call in it has exactly one result.
    pub messages: Vec<Message>,
    /// What it took.
    pub metrics: ChainMetrics,
}

/// A conversation that no chain can start with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    /// There is nothing to do.
    #[error("the conversation has no user message, and one is needed as the task")]
    NoTask,
    /// A call without its result, or a result without its call.
    #[error("the conversation is broken at message {index}: expected {expected}")]
    BrokenPair {
        /// The index of the message, from 0.
        index: usize,
        /// What was expected there.
        expected: String,
    },
    /// Two tools of the same name.
    #[error("the tool {0:?} is on offer twice")]
    DuplicateTool(String),
}

impl ToolChain {
    /// A chain with default limits and no tools on offer.
    #[must_use]
    pub fn new(model: Arc<dyn Model>, provider: Arc<dyn ToolResultProvider>) -> Self {
        Self {
            model,
            provider,
            tools: Vec::new(),
            sampling: Sampling::default(),
            limits: ChainLimits::default(),
            context: ContextPolicy::default(),
        }
    }

    /// The same chain with these tools on offer.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolSpec>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// The same chain with another way to draw replies. A token limit belongs here, even where the
    /// model has one of its own: the chain recognizes replies that were cut off by it.
    #[must_use]
    pub fn with_sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// The same chain with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: ChainLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The same chain with another context policy.
    #[must_use]
    pub fn with_context(mut self, context: ContextPolicy) -> Self {
        self.context = context;
        self
    }

    /// Drives the conversation until a stop reason. The last user message is the task.
    ///
    /// No failure of a tool ends the chain: its result says so and the model goes on. Whatever does end
    /// it, there is an outcome. Cancelling drops the model's request or the waiting calls at once; calls
    /// that had no result yet get a `cancelled` one. Dropping the future does the same without an
    /// outcome.
    ///
    /// The source of results is told at the end that no further call comes; where it then says that
    /// something was left over, an `answer` becomes a `provider_error` (the answer is kept).
    ///
    /// # Errors
    /// Only a conversation or an offer of tools that no chain can start with.
    pub async fn run(
        &self,
        messages: Vec<Message>,
        observer: &dyn ChainObserver,
        cancellation: CancellationToken,
    ) -> Result<ChainOutcome, ChainError> {
        let task = self.check(&messages)?;
        let run = Run::new(self, messages, task, observer, cancellation);
        Ok(Box::pin(run.drive()).await)
    }

    /// The index of the task.
    fn check(&self, messages: &[Message]) -> Result<usize, ChainError> {
        let mut names = std::collections::HashSet::new();
        for spec in &self.tools {
            if !names.insert(spec.name()) {
                return Err(ChainError::DuplicateTool(spec.name().to_string()));
            }
        }
        check_pairs(messages)
            .map_err(|(index, expected)| ChainError::BrokenPair { index, expected })?;
        messages
            .iter()
            .rposition(|message| matches!(message, Message::User(_)))
            .ok_or(ChainError::NoTask)
    }
}

impl fmt::Debug for ToolChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<&str> = self.tools.iter().map(|spec| spec.name().as_str()).collect();
        f.debug_struct("ToolChain")
            .field("model", &self.model.name())
            .field("tools", &tools)
            .field("sampling", &self.sampling)
            .field("limits", &self.limits)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}
