//! The contract between a model's tool calls and the tools that answer them.
//!
//! A model asks with a [`ToolCall`]; a [`ToolRegistry`] knows the [`Tool`]s that exist; a [`Gate`]
//! lets a call through stages 1 to 4 (allowlist, authorization, argument size, schema) and gives a
//! [`ValidatedArgs`], which nothing else can make; the tool answers with a [`ToolOutput`]; the
//! caller always reads a [`ToolResult`].
//!
//! This crate does nothing: it starts no process, opens no file and no connection. Parsing, policy
//! and schemas are plain functions here; waiting, deadlines and threads belong to `sandbox`.
//!
//! ```
//! use std::sync::Arc;
//! use tool_core::{
//!     AuthorizationScope, BoxFuture, ExecContext, Gate, Limits, Tool, ToolCall, ToolError,
//!     ToolOutput, ToolRegistry, ToolSpec, ValidatedArgs,
//! };
//!
//! #[derive(Debug)]
//! struct Greet(ToolSpec);
//!
//! impl Tool for Greet {
//!     fn spec(&self) -> &ToolSpec {
//!         &self.0
//!     }
//!     fn execute(
//!         &self,
//!         args: ValidatedArgs,
//!         _ctx: ExecContext,
//!     ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
//!         Box::pin(async move {
//!             let name = args.get("name").and_then(|v| v.as_str()).unwrap_or("world");
//!             Ok(ToolOutput::text(format!("hello, {name}")))
//!         })
//!     }
//! }
//!
//! let schema = serde_json::json!({
//!     "type": "object",
//!     "properties": {"name": {"type": "string"}},
//!     "required": ["name"],
//! });
//! let mut registry = ToolRegistry::new();
//! registry.register(Arc::new(Greet(ToolSpec::new("greet", "Greets.", schema)?)))?;
//! let registry = Arc::new(registry);
//!
//! let scope = registry.scope(["greet"])?;
//! let gate = Gate::new(Arc::clone(&registry), scope, Limits::default());
//! assert!(gate.admit(&ToolCall::from_text("c1", "greet", r#"{"name": "Ada"}"#)).is_ok());
//!
//! let refused = gate.admit(&ToolCall::from_text("c2", "greet", r#"{"name": 5}"#)).unwrap_err();
//! assert!(refused.for_model().contains("/name"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call;
mod context;
mod definitions;
mod error;
mod gate;
mod hint;
mod json;
mod limits;
mod name;
mod progress;
mod provider;
mod range;
mod registry;
mod render;
mod result;
mod schema;
mod scope;
mod spec;
mod text;
mod tool;
mod wire;

pub use call::{CallId, RawArguments, ToolCall};
pub use context::{Circumstances, ExecContext};
pub use definitions::{DefinitionsError, DefinitionsLimits, load_definitions};
pub use error::{
    ArgumentsProblem, ErrorBody, ErrorKind, ExitStatus, MAX_ERROR_BYTES, ToolError,
    UnauthorizedReason,
};
pub use gate::{AdmittedCall, Gate, Reading, Stage, ValidatedArgs};
pub use hint::NameIndex;
pub use json::{JsonProblem, MAX_DEPTH, parse_strict};
pub use limits::{ByteCount, LimitSource, Limits, LimitsError, Timeout};
pub use name::{NameError, OperationName, ToolName};
pub use progress::{OutputKind, Progress, ProgressSink};
pub use provider::{ProviderError, ToolResultProvider};
pub use range::OutOfRange;
pub use registry::{RegisterError, RegisteredTool, ToolRegistry, UnknownCapability};
pub use render::{render_anthropic, render_mcp, render_openai};
pub use result::{Content, ResultProblem, ToolOutput, ToolResult, Truncation};
pub use schema::{CompiledSchema, SchemaError, Violation, Violations};
pub use scope::AuthorizationScope;
pub use spec::{Annotations, OperationSpec, OutputPolicy, ToolSpec};
pub use text::{clip, head_and_tail};
pub use tool::{BoxFuture, Tool};
pub use wire::{MalformedCall, parse_call};
