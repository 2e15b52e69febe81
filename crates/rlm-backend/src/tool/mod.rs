//! `sandbox`: the sessions as a tool that a model calls.
//!
//! Code that raises, exits or runs out of time is a result, not an error: the model reads what it
//! printed and what became of the session. An error says that nothing was run.

mod failure;
mod files;
mod live;
mod operations;
mod outputs;
mod query;
mod result;
mod schema;
mod single;
mod snapshots;
mod steps;

use std::sync::Arc;

use tool_core::{
    BoxFuture, ExecContext, OperationName, Tool, ToolError, ToolOutput, ToolSpec, ValidatedArgs,
};

use self::{operations::Operations, single::SingleTool};
use crate::{
    Backend, DockerBackend, LocalBackend, QueryConfig, QueryConfigError, QueryEngine, QueryModels,
    SandboxConfig, SandboxConfigError, SessionManager,
    config::{DOCKER, LOCAL},
};

const NAME: &str = "sandbox";

/// The tool `sandbox`.
#[derive(Debug)]
pub struct SandboxTool {
    spec: ToolSpec,
    needs: schema::Needs,
    operations: Arc<Operations>,
    config: SandboxConfig,
}

/// A tool that can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxToolError {
    /// A value of the section.
    #[error(transparent)]
    Config(#[from] SandboxConfigError),
    /// A value of the section of queries.
    #[error(transparent)]
    Query(#[from] QueryConfigError),
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] tool_core::NameError),
    /// A schema that does not compile.
    #[error(transparent)]
    Schema(#[from] tool_core::SchemaError),
}

impl SandboxTool {
    /// The tool over the backends that the configuration names. Starts nothing.
    ///
    /// # Errors
    ///
    /// A value that can't be used.
    pub fn new(config: SandboxConfig) -> Result<Self, SandboxToolError> {
        config.check()?;
        let made = config.backends().filter_map(|name| built(name, &config));
        let backends = made.collect();
        Self::with_backends(config, backends)
    }

    /// The tool over a backend of the caller's.
    ///
    /// # Errors
    ///
    /// A value that can't be used.
    pub fn with_backend(
        config: SandboxConfig,
        backend: Arc<dyn Backend>,
    ) -> Result<Self, SandboxToolError> {
        Self::with_backends(config, vec![backend])
    }

    /// The tool over the first of these backends that can be had, whatever the configuration names.
    ///
    /// # Errors
    ///
    /// A value that can't be used.
    pub fn with_backends(
        config: SandboxConfig,
        backends: Vec<Arc<dyn Backend>>,
    ) -> Result<Self, SandboxToolError> {
        config.check()?;
        let timeout = config.timeout();
        let spec = schema::spec(NAME, timeout)?;
        let needs = schema::Needs::new()?;
        let manager = Arc::new(SessionManager::with_backends(backends, config.clone()));
        let queries = Err(query::NO_MODEL.to_owned());
        let operations = Arc::new(Operations { manager, queries, timeout });
        Ok(Self { spec, needs, operations, config })
    }

    /// The same with recursive queries that ask these models.
    ///
    /// # Errors
    ///
    /// A value that can't be used.
    pub fn with_queries(
        mut self,
        models: QueryModels,
        config: QueryConfig,
    ) -> Result<Self, SandboxToolError> {
        let manager = Arc::clone(&self.operations.manager);
        let engine = QueryEngine::new(manager, models, config, &self.config)?;
        self.spec =
            self.spec.with_timeout(self.config.timeout().max(engine.time() + query::MARGIN));
        self.set_queries(Ok(engine));
        Ok(self)
    }

    /// The same with what is said to whoever asks for a recursive query, where none can be had.
    #[must_use]
    pub fn without_queries(mut self, why: impl Into<String>) -> Self {
        self.set_queries(Err(why.into()));
        self
    }

    fn set_queries(&mut self, queries: Result<QueryEngine, String>) {
        let manager = Arc::clone(&self.operations.manager);
        let timeout = self.operations.timeout;
        self.operations = Arc::new(Operations { manager, queries, timeout });
    }

    /// What runs its recursive queries, where they can be had.
    #[must_use]
    pub fn queries(&self) -> Option<&QueryEngine> {
        self.operations.queries.as_ref().ok()
    }

    /// `rlm_code`, `rlm_bash` and `rlm_query`: the same sessions, one operation a tool.
    ///
    /// # Errors
    ///
    /// None that can happen; the names are checked as every name is.
    pub fn separate(&self) -> Result<Vec<Arc<dyn Tool>>, SandboxToolError> {
        let query = self.spec.timeout().unwrap_or(self.config.timeout());
        Ok(SingleTool::all(&self.operations, self.config.timeout(), query)?)
    }

    /// The names of the tool and of the separate ones.
    #[must_use]
    pub fn names() -> [&'static str; 4] {
        let [code, bash, query] = single::names();
        [NAME, code, bash, query]
    }

    async fn answer(&self, args: ValidatedArgs, ctx: ExecContext) -> Result<ToolOutput, ToolError> {
        let operation = args.operation().map(OperationName::as_str).unwrap_or_default();
        self.needs.check(NAME, operation, &args)?;
        let result = self.operations.perform(operation, &args, &ctx).await;
        result.map_err(|failure| failure.of(NAME))
    }
}

/// A backend of this build.
fn built(name: &str, config: &SandboxConfig) -> Option<Arc<dyn Backend>> {
    match name {
        LOCAL => Some(Arc::new(LocalBackend::new(config.clone()))),
        DOCKER => Some(Arc::new(DockerBackend::new(config.clone()))),
        _ => None,
    }
}

impl Tool for SandboxTool {
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
