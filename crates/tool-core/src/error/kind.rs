//! The kinds of errors.

use std::fmt;

use serde::{Deserialize, Serialize};

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
