//! Where a chain gets its results from: the sandbox, a file, a person.

use crate::{BoxFuture, ToolCall, ToolResult};

/// A source of results for calls.
///
/// A tool that fails gives an `Ok` with an error in it; `Err` means that the source itself is broken
/// (end of input, bad JSON, a wrong id) and no further result can be had.
pub trait ToolResultProvider: Send + Sync {
    /// The result of `call`. It carries the id of the call.
    fn next_result(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolResult, ProviderError>>;

    /// Says that no further call will come; an error where something was left over.
    fn finish(&self) -> BoxFuture<'_, Result<(), ProviderError>>;

    /// How many calls may wait for their results at once. 1 for a source that answers in order.
    fn concurrency(&self) -> usize {
        1
    }
}

/// A source of results that can't go on.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    message: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ProviderError {
    /// An error that says what was wrong, where, and what would be accepted.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// The same error with its cause.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }
}
