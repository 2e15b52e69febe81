//! Executors: named capabilities that block.

use std::fmt;

use tool_core::{ExecContext, ToolError, ToolName, ToolOutput, ValidatedArgs};

/// Runs one named capability on a thread of the pool.
///
/// `execute` may block; it should ask [`ExecContext::is_cancelled`] between steps and return
/// [`ToolError::Cancelled`] then. One that does not is answered for at its deadline, and its thread is
/// abandoned and counted.
pub trait ToolExecutor: fmt::Debug + Send + Sync {
    /// The exact name of the tool that it executes.
    fn name(&self) -> &ToolName;

    /// Does the work.
    ///
    /// # Errors
    /// What went wrong, in words for the model.
    fn execute(&self, args: &ValidatedArgs, ctx: &ExecContext) -> Result<ToolOutput, ToolError>;
}
