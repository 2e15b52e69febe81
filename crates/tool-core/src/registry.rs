//! The closed list of tools that exist.
//!
//! Tools are added while an operator's program starts, and never changed afterwards: a registry is
//! shared behind an `Arc`, which leaves only `&self`. A refused registration changes nothing.

use std::{collections::HashMap, fmt, sync::Arc};

use serde_json::Value;

use crate::{
    AdmittedCall, AuthorizationScope, BoxFuture, CompiledSchema, ExecContext, NameIndex,
    SchemaError, Tool, ToolError, ToolName, ToolOutput, ToolSpec, ValidatedArgs,
};

/// A tool with its schema compiled; perhaps only declared, with nothing on this machine behind it.
#[derive(Debug)]
pub struct RegisteredTool {
    spec: ToolSpec,
    schemas: Vec<CompiledSchema>,
    tool: Option<Arc<dyn Tool>>,
    takes_timeout: bool,
}

impl RegisteredTool {
    /// What the model sees.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Whether something executes it. A tool that is only declared can be listed and refused.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        self.tool.is_some()
    }

    /// The schemas that arguments must fit, all of them.
    pub(crate) fn schemas(&self) -> &[CompiledSchema] {
        &self.schemas
    }

    /// Whether its schema has a `timeout_ms`, which then narrows the deadline of a call.
    pub(crate) fn takes_timeout(&self) -> bool {
        self.takes_timeout
    }

    /// Begins the work; the future borrows the tool.
    pub(crate) fn begin(
        &self,
        args: ValidatedArgs,
        ctx: ExecContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        match &self.tool {
            Some(tool) => tool.execute(args, ctx),
            None => {
                let message = "it is declared, and nothing here executes it".to_owned();
                let tool = self.spec.name().to_string();
                Box::pin(async { Err(ToolError::BackendUnavailable { tool, message }) })
            }
        }
    }

    pub(crate) fn has_operations(&self) -> bool {
        !self.spec.operations().is_empty()
    }
}

/// Why a tool was not registered. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The name is taken.
    #[error("a tool named {0:?} is registered already")]
    Duplicate(ToolName),
    /// Its schema can't be used.
    #[error("tool {tool:?}: {source}")]
    Schema {
        /// The tool.
        tool: ToolName,
        /// What is wrong with the schema, and where.
        #[source]
        source: SchemaError,
    },
    /// `a.b` would be both a tool and an operation.
    #[error(
        "{operation:?} would be both a tool and an operation of {tool:?}; rename one of the two"
    )]
    Ambiguous {
        /// The tool that has operations.
        tool: ToolName,
        /// The tool with the dotted name.
        operation: ToolName,
    },
    /// It declares operations, and its schema does not ask for one.
    #[error(
        "tool {0:?} declares operations, so its schema must require a string \"op\" (property and \
         \"required\")"
    )]
    NoOperationArgument(ToolName),
    /// The declaration and the tool have different names.
    #[error("the declaration is of {declared:?}, the tool is {tool:?}")]
    OtherName {
        /// The name declared.
        declared: ToolName,
        /// The name of the tool.
        tool: ToolName,
    },
}

/// A capability that no registered tool has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCapability {
    /// What was named.
    pub name: String,
    /// What could be named, sorted.
    pub valid: Vec<String>,
    /// The nearest of them.
    pub closest: Option<String>,
}

impl fmt::Display for UnknownCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} names no registered tool or operation", self.name)?;
        if let Some(closest) = &self.closest {
            write!(f, "; did you mean {closest:?}?")?;
        }
        let shown = self.valid.len().min(20);
        write!(f, " (valid: {}", self.valid[..shown].join(", "))?;
        match self.valid.len() - shown {
            0 => f.write_str(")"),
            more => write!(f, " and {more} more)"),
        }
    }
}

impl std::error::Error for UnknownCapability {}

/// The tools that exist, in the order in which they were registered.
#[derive(Debug, Default)]
pub struct ToolRegistry {
    tools: Vec<Arc<RegisteredTool>>,
    by_name: HashMap<ToolName, usize>,
}

impl ToolRegistry {
    /// A registry without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool, and compiles its schema.
    ///
    /// # Errors
    /// See [`RegisterError`]; the registry is then as it was.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegisterError> {
        let spec = tool.spec().clone();
        self.add(spec, &[], Some(tool))
    }

    /// Adds a tool under an operator's declaration: the model sees the declared spec, and arguments
    /// must fit both its schema and the tool's own. The tool's operations, ceilings and output policy
    /// stay its own.
    ///
    /// # Errors
    /// See [`RegisterError`]; the registry is then as it was.
    pub fn register_declared(
        &mut self,
        declared: &ToolSpec,
        tool: Arc<dyn Tool>,
    ) -> Result<(), RegisterError> {
        let own = tool.spec().clone();
        if own.name() != declared.name() {
            let (declared, tool) = (declared.name().clone(), own.name().clone());
            return Err(RegisterError::OtherName { declared, tool });
        }
        let spec = own
            .clone()
            .with_parameters(declared.parameters().clone())
            .with_description(declared.description());
        self.add(spec, &[own.parameters()], Some(tool))
    }

    /// Adds a tool that is only declared: it is listed, and a call of it is refused.
    ///
    /// # Errors
    /// See [`RegisterError`]; the registry is then as it was.
    pub fn declare(&mut self, spec: ToolSpec) -> Result<(), RegisterError> {
        self.add(spec, &[], None)
    }

    fn add(
        &mut self,
        spec: ToolSpec,
        further: &[&Value],
        tool: Option<Arc<dyn Tool>>,
    ) -> Result<(), RegisterError> {
        self.check_name(&spec)?;
        let schemas = std::iter::once(spec.parameters())
            .chain(further.iter().copied())
            .map(CompiledSchema::compile)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|source| RegisterError::Schema { tool: spec.name().clone(), source })?;
        if !spec.operations().is_empty() && !requires_operation(spec.parameters()) {
            return Err(RegisterError::NoOperationArgument(spec.name().clone()));
        }
        let takes_timeout = spec.parameters().pointer("/properties/timeout_ms").is_some();
        self.by_name.insert(spec.name().clone(), self.tools.len());
        self.tools.push(Arc::new(RegisteredTool { spec, schemas, tool, takes_timeout }));
        Ok(())
    }

    fn check_name(&self, spec: &ToolSpec) -> Result<(), RegisterError> {
        let name = spec.name();
        if self.has(name.as_str()) {
            return Err(RegisterError::Duplicate(name.clone()));
        }
        let ambiguous = |tool: &ToolName, operation: &ToolName| RegisterError::Ambiguous {
            tool: tool.clone(),
            operation: operation.clone(),
        };
        for (dot, _) in name.as_str().match_indices('.') {
            let owner = self.get(&name.as_str()[..dot]);
            if let Some(owner) = owner.filter(|owner| owner.has_operations()) {
                return Err(ambiguous(owner.spec.name(), name));
            }
        }
        if !spec.operations().is_empty() {
            let is_below = |other: &ToolName| {
                other.as_str().strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'))
            };
            if let Some(other) = self.tools.iter().find(|tool| is_below(tool.spec.name())) {
                return Err(ambiguous(name, other.spec.name()));
            }
        }
        Ok(())
    }

    /// The tool of exactly this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.by_name.get(name).map(|index| &self.tools[*index])
    }

    /// Whether there is a tool of exactly this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The tools in the order of their registration.
    pub fn list(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        self.tools.iter()
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Every capability that a scope can hold here, sorted.
    #[must_use]
    pub fn capabilities(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for tool in &self.tools {
            let name = tool.spec.name();
            all.push(name.to_string());
            all.extend(tool.spec.operations().iter().map(|op| format!("{name}.{op}")));
        }
        all.sort();
        all
    }

    /// The scope of the named capabilities, closed: a tool named whole brings all its operations.
    ///
    /// # Errors
    /// The first name that is neither a tool nor an operation of one, with the nearest that is.
    pub fn scope<I>(&self, capabilities: I) -> Result<AuthorizationScope, UnknownCapability>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut scope = AuthorizationScope::empty();
        for capability in capabilities {
            self.add_to_scope(&mut scope, capability.as_ref())?;
        }
        Ok(scope)
    }

    fn add_to_scope(
        &self,
        scope: &mut AuthorizationScope,
        capability: &str,
    ) -> Result<(), UnknownCapability> {
        let unknown = || self.unknown_capability(capability);
        if let Some(tool) = self.get(capability) {
            let name = tool.spec.name();
            for operation in tool.spec.operations() {
                let operation = ToolName::new(format!("{name}.{operation}"));
                scope.insert(operation.map_err(|_| unknown())?);
            }
            scope.insert(name.clone());
            return Ok(());
        }
        let (owner, operation) = capability.rsplit_once('.').ok_or_else(unknown)?;
        let owner = self.get(owner).ok_or_else(unknown)?;
        if !owner.spec.operations().iter().any(|known| known.as_str() == operation) {
            return Err(unknown());
        }
        scope.insert(ToolName::new(capability).map_err(|_| unknown())?);
        Ok(())
    }

    fn unknown_capability(&self, name: &str) -> UnknownCapability {
        let valid = self.capabilities();
        let index = NameIndex::new(valid.iter().filter_map(|name| ToolName::new(name).ok()));
        let closest = index.closest(name).map(ToString::to_string);
        UnknownCapability { name: crate::clip(name, 80).to_owned(), valid, closest }
    }

    /// Runs an admitted call, without an envelope: no deadline is watched here and no output is
    /// bounded. `sandbox::ToolSandbox` does that around it.
    ///
    /// # Errors
    /// What the tool says; `backend_unavailable` for a tool that is only declared.
    pub async fn execute(
        &self,
        call: AdmittedCall,
        ctx: ExecContext,
    ) -> Result<ToolOutput, ToolError> {
        call.execute(ctx).await
    }
}

fn requires_operation(schema: &Value) -> bool {
    let is_required = schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|name| name == "op"));
    is_required && schema.pointer("/properties/op").is_some()
}
