//! Tools that wait and write, and a source of them.

use std::{sync::Arc, time::Duration};

use mcp_server::{Client, Source, SourceError};
use sandbox::ToolSandbox;
use serde_json::json;
use tokio::sync::Semaphore;
use tool_core::{
    BoxFuture, ExecContext, Limits, OutputKind, Progress, Tool, ToolError, ToolOutput,
    ToolRegistry, ToolSpec, ValidatedArgs,
};

/// The tools of every connection: `echo`, `wait`, `lines` and `large`.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    /// Each call of `wait` takes one permit, and ends with it.
    pub(crate) waiting: Arc<Semaphore>,
}

impl Tools {
    pub(crate) fn new() -> Self {
        Self { waiting: Arc::new(Semaphore::new(0)) }
    }
}

impl Source for Tools {
    fn open(&self, client: Client) -> Result<Arc<ToolSandbox>, SourceError> {
        let mut registry = ToolRegistry::new();
        let names = ["echo", "wait", "lines", "large"];
        for name in names {
            registry.register(Arc::new(One::new(name, self.clone()))).unwrap();
        }
        let registry = Arc::new(registry);
        let scope = registry.scope(names).unwrap();
        let sandbox = ToolSandbox::new(registry, scope, Limits::default());
        Ok(Arc::new(
            sandbox
                .with_progress(client.progress)
                .with_approval(tool_core::AuthorizationScope::default(), client.approver),
        ))
    }
}

#[derive(Debug)]
struct One {
    spec: ToolSpec,
    tools: Tools,
}

impl One {
    fn new(name: &str, tools: Tools) -> Self {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let spec = ToolSpec::new(name, "Is tested.", schema).unwrap();
        Self { spec: spec.with_timeout(Duration::from_secs(60)), tools }
    }
}

impl Tool for One {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute(
        &self,
        args: ValidatedArgs,
        ctx: ExecContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let text = args.get_str("text").unwrap_or_default().to_owned();
            match self.spec.name().as_str() {
                "wait" => self.tools.waiting.acquire().await.unwrap().forget(),
                "lines" => {
                    for n in 0..5 {
                        let text = format!("line {n}\n");
                        ctx.progress(Progress::Output { kind: OutputKind::Stdout, text: &text });
                        tokio::time::sleep(Duration::from_millis(200)).await;
                    }
                }
                "large" => return Ok(ToolOutput::text("a".repeat(60_000))),
                _ => {}
            }
            Ok(ToolOutput::text(text))
        })
    }
}
