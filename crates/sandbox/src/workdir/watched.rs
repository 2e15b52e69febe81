//! A reader that stops when the call does.

use std::io::{self, Read, Seek, SeekFrom};

use tool_core::{ExecContext, ToolError, ToolName};

use super::error::OpenError;

/// Reads from another reader, and asks before each read whether to go on.
#[derive(Debug)]
pub(super) struct Watched<'a, R> {
    inner: R,
    ctx: &'a ExecContext,
}

impl<'a, R> Watched<'a, R> {
    pub(super) fn new(inner: R, ctx: &'a ExecContext) -> Self {
        Self { inner, ctx }
    }
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ctx.is_cancelled() {
            // Not `Interrupted`: std tries that again.
            return Err(io::Error::other("the call was cancelled"));
        }
        self.inner.read(buffer)
    }
}

impl<R: Seek> Seek for Watched<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// What a failed read means: that the call was cancelled, or that the system would not.
pub(super) fn read_error(
    error: io::Error,
    ctx: &ExecContext,
    tool: &ToolName,
    path: &str,
) -> ToolError {
    if ctx.is_cancelled() {
        return ToolError::Cancelled;
    }
    OpenError::Io(error).into_tool_error(tool, path)
}
