//! Everything that can go wrong with a call, once for the log and once for the model.
//!
//! [`ToolError`] is what stages and tools return. Its `Display` is for the log;
//! [`ToolError::for_model`] says what was wrong and what would be accepted, is never empty and never
//! longer than [`MAX_ERROR_BYTES`]. [`ErrorBody`] is the form that a result carries on the wire.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    ByteCount, JsonProblem, LimitSource, ToolName, Violations, text::clip, text::clip_with_ellipsis,
};

/// The longest error text, in bytes.
pub const MAX_ERROR_BYTES: usize = 4096;

/// The kind of an error: a closed list that programs can branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// No tool has that name (stage 1).
    UnknownTool,
    /// The operator did not authorize it (stage 2), or a person said no.
    Unauthorized,
    /// More bytes of arguments than allowed (stage 3).
    ArgumentsTooLarge,
    /// Not JSON, or not what the schema asks for (stage 4).
    InvalidArguments,
    /// The deadline passed (stage 5).
    TimedOut,
    /// Another ceiling was reached (stage 5).
    LimitExceeded,
    /// The output is over its ceiling and may not be cut (stage 6).
    OutputTooLarge,
    /// What the tool needs is not there.
    BackendUnavailable,
    /// The tool ran and failed.
    ExecutionFailed,
    /// Somebody stopped it.
    Cancelled,
    /// It was not a call.
    MalformedCall,
}

impl ErrorKind {
    /// Every kind, in the order of the stages.
    pub const ALL: [Self; 11] = [
        Self::MalformedCall,
        Self::UnknownTool,
        Self::Unauthorized,
        Self::ArgumentsTooLarge,
        Self::InvalidArguments,
        Self::TimedOut,
        Self::LimitExceeded,
        Self::BackendUnavailable,
        Self::ExecutionFailed,
        Self::Cancelled,
        Self::OutputTooLarge,
    ];

    /// The name used in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::Unauthorized => "unauthorized",
            Self::ArgumentsTooLarge => "arguments_too_large",
            Self::InvalidArguments => "invalid_arguments",
            Self::TimedOut => "timed_out",
            Self::LimitExceeded => "limit_exceeded",
            Self::OutputTooLarge => "output_too_large",
            Self::BackendUnavailable => "backend_unavailable",
            Self::ExecutionFailed => "execution_failed",
            Self::Cancelled => "cancelled",
            Self::MalformedCall => "malformed_call",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

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
        let text = match self {
            Self::UnknownTool { name, closest } => unknown_tool(name, closest.as_ref()),
            Self::Unauthorized { capability, reason } => unauthorized(capability, *reason),
            Self::ArgumentsTooLarge { bytes, max } => format!(
                "The arguments are {bytes}; at most {max} are accepted. Send less, or split the \
                 work into several calls."
            ),
            Self::InvalidArguments { tool, problem } => invalid_arguments(tool, problem),
            Self::TimedOut { after, source_of_limit } => format!(
                "The call did not finish within {} ms ({source_of_limit}) and was ended.",
                after.as_millis()
            ),
            Self::LimitExceeded { limit, message } => format!("Limit exceeded: {limit}. {message}"),
            Self::OutputTooLarge { bytes, max } => format!(
                "The output is {bytes}; at most {max} are accepted, and this tool's output may not \
                 be cut. Ask for less."
            ),
            Self::BackendUnavailable { tool, message } => {
                format!("{tool} is not available: {message}")
            }
            Self::ExecutionFailed { message, exit } => execution_failed(message, *exit),
            Self::Cancelled => "The call was cancelled.".to_owned(),
            Self::MalformedCall { message } => format!("This is not a tool call: {message}"),
        };
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
            Self::TimedOut { after, source_of_limit } => {
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

fn unknown_tool(name: &str, closest: Option<&ToolName>) -> String {
    let name = clip(name, 80);
    match closest {
        Some(closest) => {
            format!("No tool is named {name:?}. Names are exact; the nearest one is \"{closest}\".")
        }
        None => {
            format!("No tool is named {name:?}. Use one of the tools offered, by its exact name.")
        }
    }
}

fn unauthorized(capability: &str, reason: UnauthorizedReason) -> String {
    let capability = clip(capability, 160);
    match reason {
        UnauthorizedReason::NotInScope => format!(
            "{capability} is not authorized here. Only the operator can allow it; do without it."
        ),
        UnauthorizedReason::NoApprover => format!(
            "{capability} needs a person's approval, and nobody can be asked here. Do without it."
        ),
        UnauthorizedReason::Denied => format!("A person was asked and did not allow {capability}."),
    }
}

fn invalid_arguments(tool: &str, problem: &ArgumentsProblem) -> String {
    match problem {
        ArgumentsProblem::Json(problem) => format!(
            "The arguments of {tool} can't be read as JSON: {problem}. Send one JSON object."
        ),
        ArgumentsProblem::NotAnObject { found } => {
            format!("The arguments of {tool} are {found}. Send one JSON object.")
        }
        ArgumentsProblem::Schema(violations) => {
            format!("The arguments of {tool} don't fit its schema:\n{violations}")
        }
        ArgumentsProblem::Truncated => format!(
            "The reply was cut off in the middle of the call of {tool}, so nothing was run. Send \
             the call again, with shorter arguments."
        ),
    }
}

fn execution_failed(message: &str, exit: Option<ExitStatus>) -> String {
    let message = if message.trim().is_empty() { "the tool gave no reason" } else { message };
    match exit {
        None => format!("The tool failed: {message}"),
        Some(ExitStatus::Code(code)) => format!("The tool failed with exit code {code}: {message}"),
        Some(ExitStatus::Signal(signal)) => {
            format!("The tool was ended by signal {signal}: {message}")
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
