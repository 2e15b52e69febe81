//! The operator's tools, as far as the code of a query may call them.

use std::fmt;

use serde_json::Value;
use tool_core::{BoxFuture, ToolSpec};

use super::Problem;

/// Calls tools for the code of a query: through the same stages, within the same scope and into the
/// same audit trail as the calls of a model.
pub trait SessionTools: fmt::Debug + Send + Sync {
    /// What code is offered.
    fn offered(&self) -> Vec<ToolSpec>;

    /// Calls a tool with an object of arguments.
    fn call<'a>(&'a self, name: &'a str, arguments: Value)
    -> BoxFuture<'a, Result<Value, Problem>>;
}
