//! A blocking executor as an asynchronous tool.

use std::sync::Arc;

use tool_core::{
    BoxFuture, ExecContext, RegisterError, Tool, ToolError, ToolOutput, ToolSpec, ValidatedArgs,
};

use crate::{BlockingPool, ToolExecutor};

/// An executor with its spec, run on a pool of threads.
#[derive(Debug, Clone)]
pub struct ExecutorTool {
    spec: ToolSpec,
    executor: Arc<dyn ToolExecutor>,
    pool: BlockingPool,
}

impl ExecutorTool {
    /// Joins a spec and the executor of the same name.
    ///
    /// # Errors
    /// The two have different names.
    pub fn new(
        spec: ToolSpec,
        executor: Arc<dyn ToolExecutor>,
        pool: BlockingPool,
    ) -> Result<Self, RegisterError> {
        if spec.name() != executor.name() {
            let (declared, tool) = (spec.name().clone(), executor.name().clone());
            return Err(RegisterError::OtherName { declared, tool });
        }
        Ok(Self { spec, executor, pool })
    }
}

impl Tool for ExecutorTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute(
        &self,
        args: ValidatedArgs,
        ctx: ExecContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        let executor = Arc::clone(&self.executor);
        Box::pin(self.pool.run(move || executor.execute(&args, &ctx)))
    }
}
