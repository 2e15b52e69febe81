//! The session of one query: made ready for the question, given code, asked for the answer, and left as
//! it was found, or ended where it is the query's own.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tool_core::ToolSpec;

use super::{Context, StopReason, engine::Shared, host::QueryCalls, tree::Level};
use crate::{Language, Ran, Run, SessionError, SessionId, driver::Part};

const PART: Part = Part { name: "query", code: include_str!("../drivers/python/query.py") };
/// How long interrupted code may take to end.
const GRACE: Duration = Duration::from_millis(600);

/// A session in which a query runs. Dropping it ends it where it is the query's own.
#[derive(Debug)]
pub(super) struct QuerySession {
    shared: Arc<Shared>,
    pub(super) id: SessionId,
    is_own: bool,
}

/// What a session says about the answer.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Signal {
    /// The answer, where there is one, and how it was given.
    pub(super) answer: Option<(StopReason, Value)>,
    /// What was put down as a part of an answer, and is not said to be one.
    pub(super) draft: Option<Value>,
    /// Why what was given is no answer.
    pub(super) problem: Option<String>,
}

impl QuerySession {
    /// A session of its own, which can read these files.
    pub(super) async fn new(shared: &Arc<Shared>, context: &Context) -> Result<Self, SessionError> {
        let files = context.file().into_iter().collect();
        let id = shared.manager.create_reading(files).await?;
        Ok(Self { shared: Arc::clone(shared), id, is_own: true })
    }

    /// The caller's session, for one query at a time.
    pub(super) fn given(shared: &Arc<Shared>, id: SessionId) -> Result<Self, SessionError> {
        shared.manager.backend(id)?;
        if !shared.claim(id) {
            return Err(SessionError::Busy(id));
        }
        Ok(Self { shared: Arc::clone(shared), id, is_own: false })
    }

    /// Makes it ready for a question; gives the type and the size of the context.
    pub(super) async fn begin(
        &self,
        context: &Context,
        tools: &[ToolSpec],
    ) -> Result<Value, SessionError> {
        let tools: Vec<Value> = tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name().as_str(),
                    "description": tool.description(),
                    "parameters": tool.parameters().to_string(),
                })
            })
            .collect();
        let most = self.shared.config.max_text_bytes;
        let args = json!({"context": context.argument(), "tools": tools, "max_text_bytes": most});
        self.part("begin", args).await
    }

    /// Runs a block, for no longer than the query lasts.
    pub(super) async fn run(
        &self,
        level: &Arc<Level>,
        language: Language,
        code: String,
    ) -> Result<Ran, SessionError> {
        let most = tokio::time::Instant::now() + self.shared.block_time;
        let deadline = level.budget.deadline().min(most);
        let run = Run { language, code, deadline, grace: GRACE, watcher: None };
        let calls = Arc::new(QueryCalls { level: Arc::clone(level) });
        self.shared.manager.run_answering(self.id, run, calls).await
    }

    /// Whether the question is answered.
    pub(super) async fn signal(&self) -> Result<Signal, SessionError> {
        let said = self.part("signal", json!({})).await?;
        let draft = said.get("draft").filter(|draft| !draft.is_null()).cloned();
        let problem = said.get("problem").and_then(Value::as_str).map(str::to_owned);
        let answer = said.get("value").map(|value| {
            let is_variable = said.get("kind").is_some_and(|kind| kind == "final_var");
            let kind = if is_variable { StopReason::FinalVar } else { StopReason::Final };
            (kind, value.clone())
        });
        Ok(Signal { answer, draft, problem })
    }

    /// The value of a variable as an answer, or why it is none.
    pub(super) async fn variable(&self, name: &str) -> Result<Result<Value, String>, SessionError> {
        let said = self.part("variable", json!({ "name": name })).await?;
        match (said.get("value"), said.get("problem").and_then(Value::as_str)) {
            (_, Some(problem)) => Ok(Err(problem.to_owned())),
            (value, None) => Ok(Ok(value.cloned().unwrap_or_default())),
        }
    }

    /// Ends what the query had in it. One of its own is gone when this returns.
    pub(super) async fn close(mut self) {
        if self.is_own {
            self.is_own = false;
            // One that has expired or was destroyed meanwhile is gone, too.
            let _ = self.shared.manager.destroy(self.id).await;
        } else {
            let _ = self.part("end", json!({})).await;
        }
    }

    async fn part(&self, call: &'static str, args: Value) -> Result<Value, SessionError> {
        self.shared.manager.call_part(self.id, PART, call, args).await
    }
}

impl Drop for QuerySession {
    fn drop(&mut self) {
        self.shared.release(self.id);
        if !self.is_own {
            return;
        }
        let (shared, id) = (Arc::clone(&self.shared), self.id);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { shared.manager.destroy(id).await });
        }
    }
}
