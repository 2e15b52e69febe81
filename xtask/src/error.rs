//! Why a chore did not succeed, and the exit code that says so.

/// A chore that could not start, or that found something wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line is wrong; the text says what would be right. Exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The chore ran and the answer is no, or it could not run. Exit code 1.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// A command line that can't be understood.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// A chore that failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// The exit code of the process.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_command_line_and_a_failure_are_told_apart() {
        assert_eq!(Error::usage("x").exit_code(), 2);
        assert_eq!(Error::failed("x").exit_code(), 1);
        assert_eq!(Error::failed("why").to_string(), "why");
    }
}
