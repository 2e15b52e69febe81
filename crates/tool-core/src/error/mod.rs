//! Everything that can go wrong with a call, once for the log and once for the model.
//!
//! [`ToolError`] is what stages and tools return. Its `Display` is for the log;
//! [`ToolError::for_model`] says what was wrong and what would be accepted, is never empty and never
//! longer than [`MAX_ERROR_BYTES`]. [`ErrorBody`] is the form that a result carries on the wire.

mod kind;
mod text;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    ByteCount, JsonProblem, LimitSource, ToolName, Violations, clip, text::clip_with_ellipsis,
};

pub use kind::ErrorKind;

/// The longest error text, in bytes.
pub const MAX_ERROR_BYTES: usize = 4096;

/// Why a call was not authorized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnauthorizedReason {
    /// It is not in the operator's scope.
    NotInScope,
    /// A person had to be asked, and there is none (no terminal).
    NoApprover,
    /// A person was asked and said no.
    Denied,
}

impl UnauthorizedReason {
    /// The name used in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotInScope => "not_in_scope",
            Self::NoApprover => "no_approver",
            Self::Denied => "denied",
        }
    }
}

/// How a child process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitStatus {
    /// It exited by itself.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
}

/// What is wrong with arguments that were small enough to look at.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ArgumentsProblem {
    /// The text is not JSON that can be taken as it is.
    #[error("{0}")]
    Json(JsonProblem),
    /// JSON, but no object.
    #[error("arguments are {found}, not an object")]
    NotAnObject {
        /// What they are: `an array`, `a string`, …
        found: &'static str,
    },
    /// An object that does not fit the schema.
    #[error("{0}")]
    Schema(Violations),
    /// The model's reply was cut off in the middle of the call.
    #[error("the reply was cut off before the arguments were complete")]
    Truncated,
}

/// Why a call has no output.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// Stage 1: no such tool.
    #[error("no tool is named {name:?}")]
    UnknownTool {
        /// The name as the model wrote it.
        name: String,
        /// The authorized tool whose name is nearest, where one is near.
        closest: Option<ToolName>,
    },
    /// Stage 2: not in the operator's scope, or refused by a person.
    #[error("{capability} is not authorized ({reason:?})")]
    Unauthorized {
        /// `tool` or `tool.op`.
        capability: String,
        /// Who said no.
        reason: UnauthorizedReason,
    },
    /// Stage 3.
    #[error("arguments of {bytes} are over the ceiling of {max}")]
    ArgumentsTooLarge {
        /// How large they are.
        bytes: ByteCount,
        /// How large they may be.
        max: ByteCount,
    },
    /// Stage 4.
    #[error("invalid arguments for {tool}: {problem}")]
    InvalidArguments {
        /// The tool that was called.
        tool: String,
        /// What is wrong.
        problem: ArgumentsProblem,
    },
    /// Stage 5: the deadline passed; nothing is left running that can be ended.
    #[error("timed out after {after:?} ({source_of_limit})")]
    TimedOut {
        /// The limit, not the time measured.
        after: Duration,
        /// Whose limit it was.
        source_of_limit: LimitSource,
        /// What it had written by then, in words, where that is known.
        so_far: Option<String>,
    },
    /// Stage 5: another ceiling was reached.
    #[error("limit exceeded: {limit}: {message}")]
    LimitExceeded {
        /// Which one: `memory`, `cpu`, `abandoned_threads`, …
        limit: String,
        /// How much was allowed, and what to do about it.
        message: String,
    },
    /// Stage 6: over the ceiling, and the tool's output must not be cut.
    #[error("output of {bytes} is over the ceiling of {max}")]
    OutputTooLarge {
        /// How large it is.
        bytes: ByteCount,
        /// How large it may be.
        max: ByteCount,
    },
    /// What the tool needs (an engine, a kernel feature, a program) is not there.
    #[error("{tool} is unavailable: {message}")]
    BackendUnavailable {
        /// The tool.
        tool: String,
        /// What is missing and how to get it.
        message: String,
    },
    /// The tool ran and failed.
    #[error("execution failed: {message}")]
    ExecutionFailed {
        /// What happened.
        message: String,
        /// How the child process ended, where there was one.
        exit: Option<ExitStatus>,
    },
    /// Somebody stopped it.
    #[error("cancelled")]
    Cancelled,
    /// It was not a call.
    #[error("malformed call: {message}")]
    MalformedCall {
        /// What was wrong, and what a call looks like.
        message: String,
    },
}

impl ToolError {
    /// A failure of the tool itself, without a child process.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::ExecutionFailed { message: message.into(), exit: None }
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownTool { .. } => ErrorKind::UnknownTool,
            Self::Unauthorized { .. } => ErrorKind::Unauthorized,
            Self::ArgumentsTooLarge { .. } => ErrorKind::ArgumentsTooLarge,
            Self::InvalidArguments { .. } => ErrorKind::InvalidArguments,
            Self::TimedOut { .. } => ErrorKind::TimedOut,
            Self::LimitExceeded { .. } => ErrorKind::LimitExceeded,
            Self::OutputTooLarge { .. } => ErrorKind::OutputTooLarge,
            Self::BackendUnavailable { .. } => ErrorKind::BackendUnavailable,
            Self::ExecutionFailed { .. } => ErrorKind::ExecutionFailed,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::MalformedCall { .. } => ErrorKind::MalformedCall,
        }
    }

    /// The text for the model: what was wrong, and what would be accepted. From 1 to
    /// [`MAX_ERROR_BYTES`] bytes.
    #[must_use]
    pub fn for_model(&self) -> String {
        let text = text::of(self);
        clip_with_ellipsis(text, MAX_ERROR_BYTES)
    }

    /// Facts for programs, beside the text.
    #[must_use]
    pub fn details(&self) -> Option<Value> {
        match self {
            Self::UnknownTool { closest: Some(closest), .. } => {
                Some(json!({ "closest": closest.as_str() }))
            }
            Self::Unauthorized { capability, reason } => {
                Some(json!({ "capability": clip(capability, 160), "reason": reason.as_str() }))
            }
            Self::ArgumentsTooLarge { bytes, max } | Self::OutputTooLarge { bytes, max } => {
                Some(json!({ "bytes": bytes, "max_bytes": max }))
            }
            Self::InvalidArguments { problem, .. } => problem.details(),
            Self::TimedOut { after, source_of_limit, .. } => {
                let ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                Some(json!({ "timeout_ms": ms, "set_by": source_of_limit }))
            }
            Self::LimitExceeded { limit, .. } => Some(json!({ "limit": limit })),
            Self::ExecutionFailed { exit: Some(ExitStatus::Code(code)), .. } => {
                Some(json!({ "exit_code": code }))
            }
            Self::ExecutionFailed { exit: Some(ExitStatus::Signal(signal)), .. } => {
                Some(json!({ "signal": signal }))
            }
            _ => None,
        }
    }
}

impl ArgumentsProblem {
    fn details(&self) -> Option<Value> {
        match self {
            Self::Json(problem) => problem.offset().map(|offset| json!({ "offset": offset })),
            Self::NotAnObject { found } => Some(json!({ "found": found })),
            Self::Schema(violations) => Some(json!({
                "violations": violations.shown(),
                "omitted": violations.omitted(),
            })),
            Self::Truncated => Some(json!({ "truncated": true })),
        }
    }
}

/// An error as a result carries it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorBody {
    /// The kind.
    pub kind: ErrorKind,
    /// The text for the model; 1 to [`MAX_ERROR_BYTES`] bytes.
    pub message: String,
    /// Facts for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl From<&ToolError> for ErrorBody {
    fn from(error: &ToolError) -> Self {
        Self { kind: error.kind(), message: error.for_model(), details: error.details() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_bounded_in_bytes_and_never_empty() {
        let long = ToolError::failed("ж".repeat(10_000));
        assert!(long.for_model().len() <= MAX_ERROR_BYTES);
        assert!(long.for_model().ends_with('…'));
        assert!(ToolError::failed("").for_model().contains("no reason"));
    }

    #[test]
    fn kinds_are_written_as_documented() {
        for kind in ErrorKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
