//! Stages 1 to 4, in their fixed order, and the proof that a call has passed them.
//!
//! | stage | question | refusal |
//! | --- | --- | --- |
//! | 1 allowlist | is the name, to the letter, one of a registered tool? | `unknown_tool` |
//! | 2 authorization | is it in the operator's scope? | `unauthorized` |
//! | 3 argument size | are the arguments at most `max_args` bytes? | `arguments_too_large` |
//! | 4 schema | are they one JSON object that fits every schema of the tool? | `invalid_arguments` |
//!
//! No stage sees what an earlier one refused; nothing is parsed before stage 3. Which operation of a
//! tool is asked for stands inside the arguments, so where the scope holds only some operations,
//! stage 2 first asks whether it holds any at all, and asks for the exact one as soon as stage 3 has
//! let the arguments be read, before the schema.
//!
//! The checks are pure, so they live here, below everything that waits or runs; that is what makes
//! [`ValidatedArgs`] unforgeable: its only constructor is private to this file.

mod stage;

use std::sync::Arc;

use ahash::AHashMap;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    ArgumentsProblem, AuthorizationScope, ByteCount, ExecContext, Limits, NameIndex, OperationName,
    RawArguments, RegisteredTool, Timeout, ToolCall, ToolError, ToolName, ToolOutput, ToolRegistry,
    ToolSpec, UnauthorizedReason, parse_strict, schema::kind_of,
};

pub use stage::Stage;

/// A way to read arguments that is not the plain one and loses nothing. There are exactly two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// An object that arrived once more encoded as a JSON string was decoded, once.
    DecodedString,
    /// Empty or null arguments were read as `{}`.
    EmptyAsObject,
}

/// Arguments that passed stages 1 to 4 for one tool.
///
/// Only a [`Gate`] makes them:
///
/// ```compile_fail
/// let forged = tool_core::ValidatedArgs { arguments: Default::default(), operation: None };
/// ```
///
/// ```compile_fail
/// let forged: tool_core::ValidatedArgs = serde_json::from_str("{}").unwrap();
/// ```
///
/// ```compile_fail
/// let forged = tool_core::ValidatedArgs::default();
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ValidatedArgs {
    arguments: Map<String, Value>,
    operation: Option<OperationName>,
}

impl ValidatedArgs {
    /// One argument.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.arguments.get(name)
    }

    /// One argument that is a string.
    #[must_use]
    pub fn get_str(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }

    /// All of them.
    #[must_use]
    pub fn as_object(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// The operation, for a tool that has operations.
    #[must_use]
    pub fn operation(&self) -> Option<&OperationName> {
        self.operation.as_ref()
    }

    /// The arguments as a type.
    ///
    /// # Errors
    /// Where the type asks for more than the schema does.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        T::deserialize(&Value::Object(self.arguments.clone()))
    }
}

/// A call that passed stages 1 to 4: its tool, its arguments and its timeout.
#[derive(Debug, Clone)]
pub struct AdmittedCall {
    tool: Arc<RegisteredTool>,
    args: ValidatedArgs,
    reading: Option<Reading>,
    timeout: Timeout,
}

impl AdmittedCall {
    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &RegisteredTool {
        &self.tool
    }

    /// The arguments.
    #[must_use]
    pub fn args(&self) -> &ValidatedArgs {
        &self.args
    }

    /// How the arguments were read, where that was not the plain way.
    #[must_use]
    pub fn reading(&self) -> Option<Reading> {
        self.reading
    }

    /// How long it may take, and who says so.
    #[must_use]
    pub fn timeout(&self) -> Timeout {
        self.timeout
    }

    /// `tool`, or `tool.op`.
    #[must_use]
    pub fn capability(&self) -> String {
        capability(self.tool.spec().name(), self.args.operation())
    }

    /// Runs the call, without an envelope.
    ///
    /// # Errors
    /// What the tool says; `backend_unavailable` for a tool that is only declared.
    pub async fn execute(self, ctx: ExecContext) -> Result<ToolOutput, ToolError> {
        self.tool.begin(self.args, ctx).await
    }
}

fn capability(tool: &ToolName, operation: Option<&OperationName>) -> String {
    match operation {
        None => tool.to_string(),
        Some(operation) => format!("{tool}.{operation}"),
    }
}

/// Stages 1 to 4 for one registry, one scope and one set of limits.
///
/// The scope is taken by value and can't be reached again: what a gate lets through is fixed when it
/// is made.
#[derive(Debug)]
pub struct Gate {
    registry: Arc<ToolRegistry>,
    scope: Arc<AuthorizationScope>,
    limits: Limits,
    doors: AHashMap<ToolName, Door>,
    names: NameIndex,
}

/// A registered tool, and what the scope holds of it.
#[derive(Debug)]
struct Door {
    tool: Arc<RegisteredTool>,
    grant: Grant,
}

/// What a scope holds of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grant {
    Nothing,
    SomeOperations,
    Whole,
}

impl Grant {
    fn of(tool: &RegisteredTool, scope: &AuthorizationScope) -> Self {
        let name = tool.spec().name();
        let holds = |op: &OperationName| scope.is_authorized(&capability(name, Some(op)));
        if scope.is_authorized(name.as_str()) {
            Self::Whole
        } else if tool.spec().operations().iter().any(holds) {
            Self::SomeOperations
        } else {
            Self::Nothing
        }
    }
}

impl Gate {
    /// A gate. Make the scope with [`ToolRegistry::scope`], so that it is closed.
    #[must_use]
    pub fn new(registry: Arc<ToolRegistry>, scope: AuthorizationScope, limits: Limits) -> Self {
        let door = |tool: &Arc<RegisteredTool>| {
            let grant = Grant::of(tool, &scope);
            (tool.spec().name().clone(), Door { tool: Arc::clone(tool), grant })
        };
        let doors: AHashMap<_, _> = registry.list().map(door).collect();
        let open = doors.iter().filter(|(_, door)| door.grant != Grant::Nothing);
        let names = NameIndex::new(open.map(|(name, _)| name.clone()));
        Self { registry, scope: Arc::new(scope), limits, doors, names }
    }

    /// The registry behind it.
    #[must_use]
    pub fn registry(&self) -> &Arc<ToolRegistry> {
        &self.registry
    }

    /// What is authorized.
    #[must_use]
    pub fn scope(&self) -> &Arc<AuthorizationScope> {
        &self.scope
    }

    /// The ceilings.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What a model is offered: the authorized tools, each with only its authorized operations.
    #[must_use]
    pub fn offered(&self) -> Vec<ToolSpec> {
        self.registry
            .list()
            .filter(|tool| tool.is_executable())
            .filter_map(|tool| self.narrowed(tool))
            .collect()
    }

    fn narrowed(&self, tool: &RegisteredTool) -> Option<ToolSpec> {
        let spec = tool.spec();
        if self.scope.is_authorized(spec.name().as_str()) {
            return Some(spec.clone());
        }
        let is_held =
            |op: &&OperationName| self.scope.is_authorized(&capability(spec.name(), Some(op)));
        let held: Vec<_> = spec.operations().iter().filter(is_held).cloned().collect();
        if held.is_empty() {
            return None;
        }
        let mut parameters = spec.parameters().clone();
        if let Some(Value::Object(op)) = parameters.pointer_mut("/properties/op") {
            op.insert("enum".to_owned(), held.iter().map(OperationName::as_str).collect());
        }
        Some(spec.clone().with_parameters(parameters).with_operations(held))
    }

    /// Decides about a call.
    ///
    /// # Errors
    /// The refusal of the first stage that refuses.
    pub fn admit(&self, call: &ToolCall) -> Result<AdmittedCall, ToolError> {
        let name = call.name.as_str();
        let Door { tool, grant } = self.doors.get(name).ok_or_else(|| self.unknown(name))?;
        if *grant == Grant::Nothing {
            return Err(unauthorized(name.to_owned()));
        }
        self.check_size(&call.arguments)?;
        let (arguments, reading) = read_object(tool.spec().name(), &call.arguments)?;
        let operation = operation(tool, &arguments);
        if let (Grant::SomeOperations, Some(operation)) = (grant, operation) {
            let capability = capability(tool.spec().name(), Some(operation));
            if !self.scope.is_authorized(&capability) {
                return Err(unauthorized(capability));
            }
        }
        let operation = operation.cloned();
        let arguments = check_schemas(tool, arguments)?;
        if tool.has_operations() && operation.is_none() {
            // Its schema let an operation through that the tool does not declare.
            return Err(unauthorized(format!("{}.?", tool.spec().name())));
        }
        let timeout = self.timeout(tool, &arguments);
        let args = ValidatedArgs { arguments, operation };
        Ok(AdmittedCall { tool: Arc::clone(tool), args, reading, timeout })
    }

    fn unknown(&self, name: &str) -> ToolError {
        let closest = self.names.closest(name).cloned();
        ToolError::UnknownTool { name: crate::clip(name, 256).to_owned(), closest }
    }

    fn check_size(&self, arguments: &RawArguments) -> Result<(), ToolError> {
        let (bytes, max) = (ByteCount::from(arguments.len_bytes()), self.limits.max_args());
        if bytes > max { Err(ToolError::ArgumentsTooLarge { bytes, max }) } else { Ok(()) }
    }

    fn timeout(&self, tool: &RegisteredTool, arguments: &Map<String, Value>) -> Timeout {
        let asked = if tool.takes_timeout() { arguments.get("timeout_ms") } else { None };
        let asked = asked.and_then(Value::as_u64).map(std::time::Duration::from_millis);
        self.limits.timeout_for(tool.spec().timeout(), asked)
    }
}

fn unauthorized(capability: String) -> ToolError {
    ToolError::Unauthorized { capability, reason: UnauthorizedReason::NotInScope }
}

/// The declared operation that `op` names, if it names one.
fn operation<'a>(
    tool: &'a RegisteredTool,
    arguments: &Map<String, Value>,
) -> Option<&'a OperationName> {
    if !tool.has_operations() {
        return None;
    }
    let asked = arguments.get("op")?.as_str()?;
    tool.spec().operations().iter().find(|known| known.as_str() == asked)
}

fn read_object(
    tool: &ToolName,
    arguments: &RawArguments,
) -> Result<(Map<String, Value>, Option<Reading>), ToolError> {
    let invalid = |problem| ToolError::InvalidArguments { tool: tool.to_string(), problem };
    let json = |problem| invalid(ArgumentsProblem::Json(problem));
    let value = match arguments {
        RawArguments::Text(text) if text.trim().is_empty() => Value::Null,
        RawArguments::Text(text) => parse_strict(text).map_err(json)?,
        RawArguments::Json(value) => value.clone(),
    };
    match value {
        Value::Object(object) => Ok((object, None)),
        Value::Null => Ok((Map::new(), Some(Reading::EmptyAsObject))),
        Value::String(text) if text.trim().is_empty() => {
            Ok((Map::new(), Some(Reading::EmptyAsObject)))
        }
        Value::String(text) => match parse_strict(&text) {
            Ok(Value::Object(object)) => Ok((object, Some(Reading::DecodedString))),
            Err(problem) if text.trim_start().starts_with('{') => Err(json(problem)),
            _ => Err(invalid(ArgumentsProblem::NotAnObject { found: "a string" })),
        },
        other => Err(invalid(ArgumentsProblem::NotAnObject { found: kind_of(&other) })),
    }
}

fn check_schemas(
    tool: &RegisteredTool,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, ToolError> {
    let value = Value::Object(arguments);
    for schema in tool.schemas() {
        schema.check(&value).map_err(|violations| ToolError::InvalidArguments {
            tool: tool.spec().name().to_string(),
            problem: ArgumentsProblem::Schema(violations),
        })?;
    }
    match value {
        Value::Object(arguments) => Ok(arguments),
        _ => Ok(Map::new()),
    }
}
