//! `rlm_code`, `rlm_bash`, `rlm_query`: one operation each as a tool of its own, over the same
//! sessions, for models that are offered tools without operations. Each is authorized by its own name.

use std::{sync::Arc, time::Duration};

use tool_core::{
    BoxFuture, ExecContext, NameError, Tool, ToolError, ToolOutput, ToolSpec, ValidatedArgs,
};

use super::{operations::Operations, schema};

/// Name, operation, description.
const TOOLS: [(&str, &str, &str); 3] = [
    (
        "rlm_code",
        "execute_code",
        "Runs `code` (Python) in a session that remembers, in a confined process; the value of a last \
         expression is shown. Without session_id a default session is used. timeout_ms interrupts the \
         code and keeps the session.",
    ),
    (
        "rlm_bash",
        "execute_bash",
        "Runs `command` (bash) in a session that remembers, in a confined process. Without session_id \
         a default session is used. timeout_ms interrupts the command and keeps the session.",
    ),
    (
        "rlm_query",
        "recursive_query",
        "Has a model answer `prompt` by writing code in a session, about `context` (a text, a list or \
         an object of any length), which is a variable there and is never shown to the model as a whole. \
         Without session_id the session is a new one, which ends with the query.",
    ),
];

/// The names of these tools.
pub(super) fn names() -> [&'static str; 3] {
    TOOLS.map(|(name, ..)| name)
}

/// One operation as a tool.
#[derive(Debug)]
pub(super) struct SingleTool {
    spec: ToolSpec,
    operation: &'static str,
    operations: Arc<Operations>,
}

impl SingleTool {
    /// The tools over these sessions.
    pub(super) fn all(
        operations: &Arc<Operations>,
        timeout: Duration,
        query_timeout: Duration,
    ) -> Result<Vec<Arc<dyn Tool>>, NameError> {
        let make = |(name, operation, description): (&str, &'static str, &str)| {
            let timeout = if operation == "recursive_query" { query_timeout } else { timeout };
            let spec = schema::single_spec(name, operation, description, timeout)?;
            let operations = Arc::clone(operations);
            Ok(Arc::new(Self { spec, operation, operations }) as Arc<dyn Tool>)
        };
        TOOLS.into_iter().map(make).collect()
    }

    async fn answer(&self, args: ValidatedArgs, ctx: ExecContext) -> Result<ToolOutput, ToolError> {
        let result = self.operations.perform(self.operation, &args, &ctx).await;
        result.map_err(|failure| failure.of(self.spec.name().as_str()))
    }
}

impl Tool for SingleTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute(
        &self,
        args: ValidatedArgs,
        ctx: ExecContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(self.answer(args, ctx))
    }
}
