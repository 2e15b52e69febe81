//! What a chain did and cost, in numbers.

use std::time::Duration;

use model::Usage;
use serde::{Deserialize, Serialize};
use tool_core::{ErrorKind, ToolResult};

/// The numbers of one chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainMetrics {
    /// Requests to the model, each with the calls of its reply. Requests for summaries don't count.
    pub turns: u32,
    /// Calls that the model made.
    pub calls: u32,
    /// Calls that were not let in: unknown, unauthorized, malformed, with bad arguments.
    pub refused_calls: u32,
    /// Calls that were let in and failed.
    pub failed_calls: u32,
    /// Calls that were stopped, or never begun, because the chain stopped.
    pub cancelled_calls: u32,
    /// Tokens read by the model, requests for summaries included.
    pub input_tokens: u64,
    /// Tokens written by the model, requests for summaries included.
    pub output_tokens: u64,
    /// Whether some of the tokens had to be estimated, because the provider did not count them.
    pub is_estimated: bool,
    /// Exchanges that left the context.
    pub evictions: u32,
    /// Summaries that took the place of exchanges.
    pub summaries: u32,
    /// From start to stop, in milliseconds.
    pub wall_ms: u64,
}

impl ChainMetrics {
    /// Tokens read and written.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    pub(crate) fn count_usage(&mut self, usage: Option<Usage>, estimate: impl FnOnce() -> Usage) {
        self.is_estimated |= usage.is_none();
        let usage = usage.unwrap_or_else(estimate);
        self.input_tokens = self.input_tokens.saturating_add(usage.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(usage.output_tokens);
    }

    pub(crate) fn count_result(&mut self, result: &ToolResult) {
        self.calls += 1;
        match result.error_kind() {
            None => {}
            Some(
                ErrorKind::UnknownTool
                | ErrorKind::Unauthorized
                | ErrorKind::ArgumentsTooLarge
                | ErrorKind::InvalidArguments
                | ErrorKind::MalformedCall,
            ) => self.refused_calls += 1,
            Some(ErrorKind::Cancelled) => self.cancelled_calls += 1,
            Some(_) => self.failed_calls += 1,
        }
    }

    pub(crate) fn set_wall_time(&mut self, wall_time: Duration) {
        self.wall_ms = millis(wall_time);
    }
}

/// Milliseconds, saturating.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
