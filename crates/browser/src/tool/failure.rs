//! Why an operation has no result, and which kind of error a model reads then.

use tool_core::{ArgumentsProblem, Timeout, ToolError, Violation, clip};

use super::NAME;

/// Why an operation has no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// An argument that does not fit, in a way that a schema can't say.
    Argument {
        /// Which one.
        name: &'static str,
        /// What would be accepted.
        expected: String,
        /// What was there.
        found: String,
    },
    /// What is needed is not configured, or not on this machine; how to get it.
    Unavailable(String),
    /// A ceiling was reached.
    Limit {
        /// Which one.
        limit: &'static str,
        /// How much was allowed.
        message: String,
    },
    /// The time of the call was over.
    TimedOut {
        /// That time, and whose it is.
        timeout: Timeout,
        /// What was waited for.
        message: String,
    },
    /// It was tried, and failed.
    Failed(String),
    /// The caller does not want it any more.
    Cancelled,
}

impl Failure {
    /// An argument that does not fit.
    pub(super) fn argument(name: &'static str, expected: impl Into<String>, found: &str) -> Self {
        let found = format!("{:?}", clip(found, 120));
        Self::Argument { name, expected: expected.into(), found }
    }

    /// The error of the call.
    pub(super) fn of_call(self) -> ToolError {
        match self {
            Self::Argument { name, expected, found } => {
                let (pointer, keyword) = (format!("/{name}"), "value".to_owned());
                let violation = Violation { pointer, keyword, expected, found };
                let problem = ArgumentsProblem::Schema(violation.into());
                ToolError::InvalidArguments { tool: NAME.to_owned(), problem }
            }
            Self::Failed(message) => ToolError::failed(message),
            Self::Unavailable(message) => {
                ToolError::BackendUnavailable { tool: NAME.to_owned(), message }
            }
            Self::Limit { limit, message } => {
                ToolError::LimitExceeded { limit: limit.to_owned(), message }
            }
            Self::TimedOut { timeout, message } => ToolError::TimedOut {
                after: timeout.after,
                source_of_limit: timeout.source,
                so_far: Some(message),
            },
            Self::Cancelled => ToolError::Cancelled,
        }
    }
}
