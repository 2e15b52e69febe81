//! `sandbox`: the sessions as a tool that a model calls.
//!
//! Code that raises, exits or runs out of time is a result, not an error: the model reads what it
//! printed and what became of the session. An error says that nothing was run.

mod result;
mod schema;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tool_core::{
    ArgumentsProblem, BoxFuture, CompiledSchema, ExecContext, OperationName, Tool, ToolError,
    ToolOutput, ToolSpec, ValidatedArgs,
};

use crate::{
    Backend, DriverStatus, Language, LocalBackend, Run, SandboxConfig, SandboxConfigError,
    SessionError, SessionId, SessionManager,
};

const NAME: &str = "sandbox";
/// The most that is kept back of a call's time for its end.
const MAX_MARGIN: Duration = Duration::from_secs(3);

/// The tool `sandbox`.
#[derive(Debug)]
pub struct SandboxTool {
    spec: ToolSpec,
    needs: schema::Needs,
    manager: SessionManager,
}

/// A tool that can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxToolError {
    /// A value of the section.
    #[error(transparent)]
    Config(#[from] SandboxConfigError),
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] tool_core::NameError),
    /// A schema that does not compile.
    #[error(transparent)]
    Schema(#[from] tool_core::SchemaError),
}

impl SandboxTool {
    /// The tool over the backend that the configuration names. Starts nothing.
    ///
    /// # Errors
    ///
    /// A value that can't be used.
    pub fn new(config: SandboxConfig) -> Result<Self, SandboxToolError> {
        let backend = Arc::new(LocalBackend::new(config.clone()));
        Self::with_backend(config, backend)
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
        config.check()?;
        let spec = schema::spec(NAME, config.timeout())?;
        let needs = schema::Needs::new()?;
        Ok(Self { spec, needs, manager: SessionManager::new(backend, config) })
    }

    async fn answer(&self, args: ValidatedArgs, ctx: ExecContext) -> Result<ToolOutput, ToolError> {
        let operation = args.operation().map(OperationName::as_str).unwrap_or_default();
        if let Some(needs) = self.needs.of(operation) {
            check(needs, &args)?;
        }
        match operation {
            "execute_code" => self.run(Language::Python, "code", &args, &ctx).await,
            "execute_bash" => self.run(Language::Bash, "command", &args, &ctx).await,
            "session_create" => {
                let id = self.manager.create().await.map_err(error)?;
                Ok(ToolOutput::json(json!({"session_id": id.to_string()})))
            }
            "session_status" => self.status(named(&args)?),
            "session_destroy" => {
                let id = named(&args)?;
                self.manager.destroy(id).await.map_err(error)?;
                Ok(ToolOutput::json(json!({"session_id": id.to_string(), "destroyed": true})))
            }
            operation => {
                Err(unavailable(format!("{operation} comes with a later version of remit")))
            }
        }
    }

    async fn run(
        &self,
        language: Language,
        argument: &str,
        args: &ValidatedArgs,
        ctx: &ExecContext,
    ) -> Result<ToolOutput, ToolError> {
        let started = Instant::now();
        let left = ctx.remaining();
        let margin = (left / 4).min(MAX_MARGIN);
        let run = Run {
            language,
            code: args.get_str(argument).unwrap_or_default().to_owned(),
            deadline: (started + (left - margin)).into(),
            grace: margin * 2 / 3,
            watcher: None,
        };
        let session = args.get_str("session_id").map(str::parse).transpose().map_err(error)?;
        let (id, ran) = self.manager.run(session, run).await.map_err(error)?;
        if ran.outcome.ending.cancelled {
            return Err(ToolError::Cancelled);
        }
        Ok(result::output(id, &ran, started.elapsed(), ctx.limits().max_output()))
    }

    fn status(&self, id: SessionId) -> Result<ToolOutput, ToolError> {
        let status = self.manager.status(id).map_err(error)?;
        let driver = |driver: &DriverStatus| {
            json!({
                "running": driver.is_running,
                "generation": driver.generation,
                "version": driver.version,
            })
        };
        Ok(ToolOutput::json(json!({
            "session_id": id.to_string(),
            "age_secs": status.age.as_secs(),
            "expires_in_secs": status.expires_in.as_secs(),
            "busy": status.is_busy,
            "python": driver(&status.python),
            "bash": driver(&status.bash),
        })))
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

fn check(needs: &CompiledSchema, args: &ValidatedArgs) -> Result<(), ToolError> {
    let checked = needs.check(&Value::Object(args.as_object().clone()));
    checked.map_err(|violations| ToolError::InvalidArguments {
        tool: NAME.to_owned(),
        problem: ArgumentsProblem::Schema(violations),
    })
}

fn named(args: &ValidatedArgs) -> Result<SessionId, ToolError> {
    args.get_str("session_id").unwrap_or_default().parse().map_err(error)
}

fn unavailable(message: String) -> ToolError {
    ToolError::BackendUnavailable { tool: NAME.to_owned(), message }
}

fn error(error: SessionError) -> ToolError {
    match error {
        SessionError::Backend(_) | SessionError::Start(_) | SessionError::Host(_) => {
            unavailable(error.to_string())
        }
        SessionError::TooMany { .. } => {
            ToolError::LimitExceeded { limit: "sessions".to_owned(), message: error.to_string() }
        }
        error => ToolError::failed(error.to_string()),
    }
}
