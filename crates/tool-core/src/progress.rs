//! What a tool shows of a call while it works, for people who watch. Never part of the result.
//!
//! Nothing is shown after the call was answered or given up, and the last thing shown says that it has
//! ended. A sink is called from the task of the tool, which waits: it must not block.

use std::fmt;

use crate::CallId;

/// A stream of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputKind {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A step of a call that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// The next piece of what a program writes, as it wrote it: control characters and all.
    Output {
        /// Where it wrote it.
        kind: OutputKind,
        /// The piece; not a line, but never a part of a character.
        text: &'a str,
    },
    /// The call has ended: no step of it comes any more, and its answer is next.
    Ended,
}

/// Somebody who watches calls.
pub trait ProgressSink: fmt::Debug + Send + Sync {
    /// Takes the next step of a call.
    fn progress(&self, call: &CallId, progress: Progress<'_>);
}
