//! What a call gives back: what was shown and printed, how it ended, and what became of the session.

use crate::{
    output::Captured,
    protocol::{CodeError, Shown},
};

/// The result of one call.
#[derive(Debug, Clone)]
pub struct CallOutcome {
    /// The value of the last expression and open figures. Nothing where the call did not report.
    pub shown: Vec<Shown>,
    /// What the code raised, in Python.
    pub error: Option<CodeError>,
    /// Standard output of this call.
    pub stdout: Captured,
    /// Standard error of this call.
    pub stderr: Captured,
    /// Output since the call before, of what that left running, where nobody took it.
    pub earlier: Background,
    /// How it ended.
    pub ending: Ending,
    /// What became of the session's state.
    pub state: StateAfter,
    /// Counts interpreters: it goes up by one with each that takes over.
    pub generation: u64,
    /// Where the session is; `None` where it did not report.
    pub cwd: Option<Cwd>,
}

/// How a call ended, on separate axes: an interrupted call has a status too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ending {
    /// The status: of the command, of `sys.exit`, or of the process that ended. Python code that
    /// raised has 1, interrupted code 130. `None` where a signal ended the process.
    pub exit_code: Option<i32>,
    /// The signal that ended the process.
    pub signal: Option<i32>,
    /// The deadline passed, and the code was interrupted.
    pub timed_out: bool,
    /// The caller cancelled, and the code was interrupted.
    pub cancelled: bool,
    /// The interrupt did not end the code, and the process was killed.
    pub killed: bool,
}

/// What became of a session's state in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateAfter {
    /// The same interpreter goes on.
    Kept,
    /// The interpreter ended, and a new one has its variables, functions, options and directory.
    /// Lost is the table of its jobs, which live on, and `$?`.
    Restored,
    /// The process is gone, and its state with it. The link is of no more use.
    Lost,
}

/// A session's working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cwd {
    /// Its path, as the session knows it.
    pub path: String,
    /// Whether it is still there.
    pub exists: bool,
}

/// Output that no call waited for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Background {
    /// Of standard output.
    pub stdout: Captured,
    /// Of standard error.
    pub stderr: Captured,
}

impl Background {
    /// Whether there was any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stdout.is_empty() && self.stderr.is_empty()
    }
}
