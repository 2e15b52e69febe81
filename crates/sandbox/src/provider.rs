//! The sandbox as a source of results for a chain.

use std::sync::Arc;

use tool_core::{BoxFuture, ProviderError, ToolCall, ToolResult, ToolResultProvider};

use crate::ToolSandbox;

/// Answers a chain's calls by executing them.
#[derive(Debug, Clone)]
pub struct SandboxedToolProvider {
    sandbox: Arc<ToolSandbox>,
    concurrency: usize,
}

impl SandboxedToolProvider {
    /// A provider that executes up to `concurrency` calls side by side (at least one).
    #[must_use]
    pub fn new(sandbox: Arc<ToolSandbox>, concurrency: usize) -> Self {
        Self { sandbox, concurrency: concurrency.max(1) }
    }
}

impl ToolResultProvider for SandboxedToolProvider {
    fn next_result(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolResult, ProviderError>> {
        Box::pin(async move {
            self.sandbox.execute(call).await.map_err(|error| {
                ProviderError::new("the sandbox has stopped executing").with_source(error)
            })
        })
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), ProviderError>> {
        Box::pin(async { Ok(()) })
    }

    fn concurrency(&self) -> usize {
        self.concurrency
    }
}
