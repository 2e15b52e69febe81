//! The stages by name.

use serde::{Deserialize, Serialize};

use crate::ErrorKind;

/// A place in the life of a call where it can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Before stage 1: the text was no call.
    Parse,
    /// Stage 1.
    Allowlist,
    /// Stage 2, a person's answer included.
    Authorization,
    /// Stage 3.
    ArgumentSize,
    /// Stage 4.
    Schema,
    /// Stage 5: the tool ran, or was ended.
    Envelope,
    /// Stage 6.
    OutputSize,
}

impl Stage {
    /// The stage that gives errors of this kind.
    #[must_use]
    pub fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::MalformedCall => Self::Parse,
            ErrorKind::UnknownTool => Self::Allowlist,
            ErrorKind::Unauthorized => Self::Authorization,
            ErrorKind::ArgumentsTooLarge => Self::ArgumentSize,
            ErrorKind::InvalidArguments => Self::Schema,
            ErrorKind::OutputTooLarge => Self::OutputSize,
            ErrorKind::TimedOut
            | ErrorKind::LimitExceeded
            | ErrorKind::BackendUnavailable
            | ErrorKind::ExecutionFailed
            | ErrorKind::Cancelled => Self::Envelope,
        }
    }
}
