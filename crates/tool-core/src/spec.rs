//! What a model sees of a tool: name, description, parameters; and what the pipeline knows of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{NameError, OperationName, ToolName};

/// What happens to output over the ceiling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputPolicy {
    /// A structured result that must not be cut: the call becomes `output_too_large`.
    #[default]
    Refuse,
    /// A stream of text: head and tail are kept, and the result says how much was left out.
    Truncate,
}

/// Hints about a tool for hosts and people; never a ground for a decision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Annotations {
    /// It changes nothing.
    pub is_read_only: bool,
    /// What it changes may not be undone.
    pub is_destructive: bool,
    /// Calling it again with the same arguments changes nothing more.
    pub is_idempotent: bool,
    /// It reaches out of this machine.
    pub is_open_world: bool,
    /// Calling it again with the same arguments is how it is meant to be used (a status query), so
    /// repeated calls are no sign of a loop.
    pub is_polling: bool,
}

/// What one operation of a tool is for, and what it takes of the tool's parameters, so that it can be
/// offered as a tool of its own. Nothing is decided by it.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationSpec {
    /// The operation.
    pub name: OperationName,
    /// What it does, for a model.
    pub description: String,
    /// The parameters that it needs, beside `op`.
    pub needed: Vec<String>,
    /// The parameters that it takes where they are there.
    pub taken: Vec<String>,
    /// Parameters of which it needs exactly one; they are among `taken`.
    pub one_of: Vec<String>,
    /// Hints for hosts and people.
    pub annotations: Annotations,
    /// The JSON Schema of its result, where that is one JSON object.
    pub output: Option<Value>,
}

/// A tool's name, description and parameters, and how the pipeline treats it.
///
/// ```
/// use serde_json::json;
/// let spec = tool_core::ToolSpec::new(
///     "lookup",
///     "Looks a word up.",
///     json!({"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}),
/// )?;
/// assert_eq!(spec.name().as_str(), "lookup");
/// # Ok::<(), tool_core::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    name: ToolName,
    description: String,
    parameters: Value,
    title: Option<String>,
    operations: Vec<OperationName>,
    operation_specs: Vec<OperationSpec>,
    output_policy: OutputPolicy,
    timeout: Option<Duration>,
    annotations: Annotations,
    output: Option<Value>,
}

impl ToolSpec {
    /// A spec with a name, a description and a JSON Schema of the parameters. The schema is compiled
    /// when the tool is registered.
    ///
    /// # Errors
    /// A text that is not a name.
    pub fn new(
        name: impl AsRef<str>,
        description: impl Into<String>,
        parameters: Value,
    ) -> Result<Self, NameError> {
        Ok(Self {
            name: ToolName::new(name)?,
            description: description.into(),
            parameters,
            title: None,
            operations: Vec::new(),
            operation_specs: Vec::new(),
            output_policy: OutputPolicy::default(),
            timeout: None,
            annotations: Annotations::default(),
            output: None,
        })
    }

    /// Declares operations: the schema must then require `op`, and each can be authorized alone.
    #[must_use]
    pub fn with_operations(mut self, operations: impl IntoIterator<Item = OperationName>) -> Self {
        self.operations = operations.into_iter().collect();
        self
    }

    /// Says what each operation takes, for those that offer operations one by one.
    #[must_use]
    pub fn with_operation_specs(mut self, specs: impl IntoIterator<Item = OperationSpec>) -> Self {
        self.operation_specs = specs.into_iter().collect();
        self
    }

    /// Sets a title for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets what happens to output over the ceiling.
    #[must_use]
    pub fn with_output_policy(mut self, policy: OutputPolicy) -> Self {
        self.output_policy = policy;
        self
    }

    /// Sets the tool's own ceiling for the time of one call.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the hints.
    #[must_use]
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Says what its result looks like, as a JSON Schema, where that is one JSON object. Nothing is
    /// checked against it.
    #[must_use]
    pub fn with_output_schema(mut self, output: Value) -> Self {
        self.output = Some(output);
        self
    }

    /// Replaces the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Replaces the schema of the parameters.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Value) -> Self {
        self.parameters = parameters;
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// The description that a model reads.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema of the arguments.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.parameters
    }

    /// The JSON Schema of the result, where the tool says what it is.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Value> {
        self.output.as_ref()
    }

    /// The title for people, where it has one.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The operations; empty where the tool has none.
    #[must_use]
    pub fn operations(&self) -> &[OperationName] {
        &self.operations
    }

    /// What an operation takes, where the tool says so.
    #[must_use]
    pub fn operation_spec(&self, operation: &OperationName) -> Option<&OperationSpec> {
        self.operation_specs.iter().find(|spec| spec.name == *operation)
    }

    /// What happens to output over the ceiling.
    #[must_use]
    pub fn output_policy(&self) -> OutputPolicy {
        self.output_policy
    }

    /// The tool's own ceiling for the time of one call.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// The hints.
    #[must_use]
    pub fn annotations(&self) -> Annotations {
        self.annotations
    }
}
