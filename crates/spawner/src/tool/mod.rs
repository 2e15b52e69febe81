//! `subagent`: the pool as a tool that a model calls.
//!
//! What the caller may call is its context's scope, so an agent that starts agents goes through the same
//! door. An agent that failed is a result; an error says that nothing was done.

mod result;
mod schema;

use std::{path::PathBuf, sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::json;
use tool_core::{
    ArgumentsProblem, BoxFuture, ExecContext, OperationName, Tool, ToolError, ToolOutput, ToolSpec,
    ValidatedArgs,
};

use crate::{
    AgentError, AgentHost, AgentId, AgentPool, AgentRequest, Collect, PoolError, SpawnError,
    SubagentConfig,
};

/// The tool's name.
pub(crate) const NAME: &str = "subagent";
/// What is kept back of a call's time, so that a wait ends before the call does.
const MARGIN: Duration = Duration::from_millis(200);

/// The tool `subagent`.
#[derive(Debug)]
pub struct SubagentTool {
    spec: ToolSpec,
    needs: schema::Needs,
    pool: AgentPool,
    /// How deep the agents are that it starts.
    depth: u64,
}

/// A tool that can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubagentToolError {
    /// Its pool.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] tool_core::NameError),
    /// A schema that does not compile.
    #[error(transparent)]
    Schema(#[from] tool_core::SchemaError),
}

/// The arguments of `spawn`.
#[derive(Debug, Deserialize)]
struct Spawn {
    task: String,
    provider: Option<String>,
    model: Option<String>,
    allow_tools: Option<Vec<String>>,
    workdir: Option<PathBuf>,
    timeout_ms: Option<u64>,
    budget: Option<u64>,
}

impl SubagentTool {
    /// The tool over a pool of its own.
    ///
    /// # Errors
    /// A value of the configuration, or a state folder that can't be used.
    pub fn new(
        config: SubagentConfig,
        host: Arc<dyn AgentHost>,
    ) -> Result<Self, SubagentToolError> {
        Self::view(AgentPool::new(config, host)?, 1)
    }

    /// The tool over a view of a pool.
    pub(crate) fn view(pool: AgentPool, depth: u64) -> Result<Self, SubagentToolError> {
        let providers: Vec<_> = pool.config().providers.keys().map(String::as_str).collect();
        let spec = schema::spec(NAME, &providers)?;
        Ok(Self { spec, needs: schema::Needs::new()?, pool, depth })
    }

    /// The agents that it starts.
    #[must_use]
    pub fn pool(&self) -> &AgentPool {
        &self.pool
    }

    async fn answer(&self, args: ValidatedArgs, ctx: ExecContext) -> Result<ToolOutput, ToolError> {
        let operation = args.operation().map(OperationName::as_str).unwrap_or_default();
        if let Some(needs) = self.needs.of(operation) {
            let given = serde_json::Value::Object(args.as_object().clone());
            needs.check(&given).map_err(|violations| ToolError::InvalidArguments {
                tool: NAME.to_owned(),
                problem: ArgumentsProblem::Schema(violations),
            })?;
        }
        match operation {
            "spawn" => self.spawn(&args, &ctx).await,
            "list" => {
                let listed = result::list(&self.pool.list(), ctx.limits().max_output());
                Ok(ToolOutput::json(listed))
            }
            "status" => {
                let record = self.pool.status(id(&args)?).map_err(|error| unknown(&error))?;
                Ok(ToolOutput::json(result::record(&record)))
            }
            "terminate" => self.terminate(id(&args)?, &ctx).await,
            "collect" => self.collect(&args, &ctx).await,
            other => Err(ToolError::failed(format!("there is no operation {other:?}"))),
        }
    }

    async fn spawn(
        &self,
        args: &ValidatedArgs,
        ctx: &ExecContext,
    ) -> Result<ToolOutput, ToolError> {
        let asked: Spawn =
            args.deserialize().map_err(|error| ToolError::failed(error.to_string()))?;
        let request = AgentRequest {
            task: asked.task,
            provider: asked.provider,
            model: asked.model,
            parent_scope: ctx.scope().clone(),
            allow: asked.allow_tools,
            workdir: asked.workdir,
            timeout: asked.timeout_ms.map(Duration::from_millis),
            tokens: asked.budget,
            depth: self.depth,
        };
        let id = self.pool.spawn(request).await.map_err(refused)?;
        let record = self.pool.status(id).map_err(|error| unknown(&error))?;
        Ok(ToolOutput::json(result::record(&record)))
    }

    /// Ends an agent; where the call's time does not suffice, it goes on ending.
    async fn terminate(&self, id: AgentId, ctx: &ExecContext) -> Result<ToolOutput, ToolError> {
        let patience = ctx.remaining().saturating_sub(MARGIN);
        let record = match tokio::time::timeout(patience, self.pool.terminate(id)).await {
            Ok(record) => record,
            Err(_) => self.pool.status(id),
        };
        Ok(ToolOutput::json(result::record(&record.map_err(|error| unknown(&error))?)))
    }

    async fn collect(
        &self,
        args: &ValidatedArgs,
        ctx: &ExecContext,
    ) -> Result<ToolOutput, ToolError> {
        let id = id(args)?;
        let number = |name: &str| args.get(name).and_then(serde_json::Value::as_u64);
        let wait = Duration::from_millis(number("wait_ms").unwrap_or(0));
        let most = ctx.limits().max_output();
        let mut ask = Collect {
            since: number("since"),
            wait: wait.min(ctx.remaining().saturating_sub(MARGIN)),
            max: most.as_usize() / 2,
        };
        loop {
            let collected = self.pool.collect(id, ask).await.map_err(|error| unknown(&error))?;
            let output = result::collected(&collected, ask.max);
            // What has to be escaped takes more room than it has bytes.
            if output.len_bytes() <= most || ask.max < result::LEAST_ROOM {
                return Ok(output);
            }
            ask = Collect { wait: Duration::ZERO, max: ask.max / 2, ..ask };
        }
    }
}

impl Tool for SubagentTool {
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

fn id(args: &ValidatedArgs) -> Result<AgentId, ToolError> {
    let text = args.get_str("id").unwrap_or_default();
    text.parse().map_err(|error: crate::MalformedId| ToolError::failed(error.to_string()))
}

fn unknown(error: &AgentError) -> ToolError {
    ToolError::failed(match error {
        AgentError::Unknown { id } => {
            format!("there is no agent {id}; {} lists those that there are", json!({"op": "list"}))
        }
        other => other.to_string(),
    })
}

fn refused(error: SpawnError) -> ToolError {
    match error {
        SpawnError::Bound { bound, message } => {
            ToolError::LimitExceeded { limit: bound.to_owned(), message }
        }
        SpawnError::Scope(error) => ToolError::Unauthorized {
            capability: error.refused.join(", "),
            reason: tool_core::UnauthorizedReason::NotInScope,
        },
        SpawnError::Launch(error) => {
            ToolError::BackendUnavailable { tool: NAME.to_owned(), message: error.to_string() }
        }
        other => ToolError::failed(other.to_string()),
    }
}
