//! Why a command ends without having done its work.

use std::{error::Error, fmt, io, process::ExitCode};

/// The end of a command, with its exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A mistake of the operator: a flag, a file, a value. Exit code 2.
    Operator(String),
    /// The work could not be finished. Exit code 1.
    Broken(String),
    /// Nobody reads the output any more. Exit code 0.
    ClosedOutput,
}

impl Failure {
    /// A mistake, told with all its causes.
    pub(crate) fn operator(error: &dyn Error) -> Self {
        Self::Operator(with_causes(error))
    }

    /// An error that is nobody's mistake, told with all its causes.
    pub(crate) fn broken(error: &dyn Error) -> Self {
        Self::Broken(with_causes(error))
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Operator(_) => ExitCode::from(2),
            Self::Broken(_) => ExitCode::from(1),
            Self::ClosedOutput => ExitCode::SUCCESS,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator(text) | Self::Broken(text) => f.write_str(text),
            Self::ClosedOutput => f.write_str("standard output is closed"),
        }
    }
}

impl From<io::Error> for Failure {
    /// An error of writing to standard output.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedOutput,
            _ => Self::Broken(format!("standard output can't be written: {error}")),
        }
    }
}

/// The error and its causes in one line.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}
