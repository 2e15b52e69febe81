//! The tool over sessions, and the operator's tools for the code of its queries: what code calls goes
//! through the same sandbox as what a model calls.

use std::sync::{Arc, Weak};

use rlm_backend::{Problem, QueryEngine, QueryModels, SandboxTool, SandboxToolError, SessionTools};
use sandbox::ToolSandbox;
use serde_json::Value;
use tool_core::{BoxFuture, Content, ToolCall, ToolResult, ToolSpec};

use crate::Config;

/// The tool over sessions of a configuration.
pub(super) fn sandbox_tool(
    config: &Config,
    models: Result<QueryModels, String>,
) -> Result<SandboxTool, SandboxToolError> {
    config.query.check()?;
    let tool = SandboxTool::new(config.sandbox.clone())?;
    match models {
        Ok(models) => tool.with_queries(models, config.query.clone()),
        Err(why) => Ok(tool.without_queries(why)),
    }
}

/// Lets the code of queries call the tools of a sandbox: within its scope, through all of its stages,
/// into its audit trail. The tools over sessions themselves are left out.
pub fn offer_to_queries(queries: &QueryEngine, sandbox: &Arc<ToolSandbox>) {
    queries.offer(Arc::new(Offered { sandbox: Arc::downgrade(sandbox) }));
}

/// The tools of a sandbox, which holds the engine that holds this.
#[derive(Debug)]
struct Offered {
    sandbox: Weak<ToolSandbox>,
}

impl SessionTools for Offered {
    fn offered(&self) -> Vec<ToolSpec> {
        let mut offered = self.sandbox.upgrade().map(|it| it.offered()).unwrap_or_default();
        offered.retain(|tool| !is_over_sessions(tool.name().as_str()));
        offered
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
    ) -> BoxFuture<'a, Result<Value, Problem>> {
        Box::pin(async move {
            let Some(sandbox) = self.sandbox.upgrade().filter(|_| !is_over_sessions(name)) else {
                return Err(problem("unknown_tool", format!("there is no tool {name:?} here")));
            };
            match sandbox.execute(ToolCall::from_json("query", name, arguments)).await {
                Ok(result) => value_of(result),
                Err(error) => Err(problem("execution_failed", error.to_string())),
            }
        })
    }
}

fn is_over_sessions(name: &str) -> bool {
    SandboxTool::names().contains(&name)
}

fn problem(kind: &str, message: String) -> Problem {
    Problem { kind: kind.to_owned(), message }
}

/// A result as Python sees it: a text, a JSON value, or a list of parts.
fn value_of(result: ToolResult) -> Result<Value, Problem> {
    let output = result.outcome.map_err(|error| problem(error.kind.as_str(), error.message))?;
    let mut parts: Vec<Value> = output.content.into_iter().map(part).collect();
    Ok(if parts.len() == 1 { parts.remove(0) } else { parts.into() })
}

fn part(content: Content) -> Value {
    match content {
        Content::Text { text } => text.into(),
        Content::Json { json } => json,
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}
