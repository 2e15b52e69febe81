//! The one trait that every tool implements.

use std::{fmt, future::Future, pin::Pin};

use crate::{ExecContext, ToolError, ToolName, ToolOutput, ToolSpec, ValidatedArgs};

/// A future on the heap that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something a model can call.
///
/// `execute` is only ever entered with arguments that passed stages 1 to 4: a [`ValidatedArgs`] can't
/// be made anywhere else. The future must yield, not block: work that blocks belongs into a
/// `ToolExecutor` of the `sandbox` crate, which runs on a bounded pool of threads. It is dropped at
/// its deadline, so what it owns must end when dropped.
pub trait Tool: fmt::Debug + Send + Sync {
    /// What the model sees. Must not change once the tool is registered.
    fn spec(&self) -> &ToolSpec;

    /// Does the work.
    fn execute(
        &self,
        args: ValidatedArgs,
        ctx: ExecContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>>;

    /// The name in the spec.
    fn name(&self) -> &ToolName {
        self.spec().name()
    }
}
