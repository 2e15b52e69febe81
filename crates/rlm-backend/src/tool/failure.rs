//! Why an operation has no result, and which kind of error a model reads then.

use tool_core::ToolError;

use crate::{FileError, SessionError, SnapshotError};

/// Why an operation has no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no session, or it does not do it.
    Session(SessionError),
    /// Not in this build, or not on this machine.
    Unavailable(String),
    /// What the schema can't tell.
    Argument(String),
    /// The caller does not want it any more.
    Cancelled,
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

impl Failure {
    /// The error of a call of `tool`.
    pub(super) fn of(self, tool: &str) -> ToolError {
        let error = match self {
            Self::Session(error) => error,
            Self::Unavailable(message) => return unavailable(tool, message),
            Self::Argument(message) => return ToolError::failed(message),
            Self::Cancelled => return ToolError::Cancelled,
        };
        let message = error.to_string();
        let limit = match error {
            SessionError::Backend(_)
            | SessionError::Start(_)
            | SessionError::Lost { .. }
            | SessionError::Host(_)
            | SessionError::File(FileError::Unsupported)
            | SessionError::Snapshot(SnapshotError::Unsupported { .. }) => {
                return unavailable(tool, message);
            }
            SessionError::TooMany { .. } => "sessions",
            SessionError::NoMoreExtensions { .. } => "session_extensions",
            SessionError::DiskFull { .. } => "disk",
            SessionError::File(FileError::TooLarge { .. }) => "file_bytes",
            SessionError::Snapshot(SnapshotError::TooMany { .. }) => "snapshots",
            SessionError::Snapshot(SnapshotError::TooLarge { .. }) => "snapshot_bytes",
            _ => return ToolError::failed(message),
        };
        ToolError::LimitExceeded { limit: limit.to_owned(), message }
    }
}

fn unavailable(tool: &str, message: String) -> ToolError {
    ToolError::BackendUnavailable { tool: tool.to_owned(), message }
}
