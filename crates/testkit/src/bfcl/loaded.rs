//! The tools of one question, loaded and registered as an operator's would be.
//!
//! The translated definitions are written out as a definition file in the OpenAI shape and read by
//! the real loader. They are registered twice: as they are (open: further arguments are let through),
//! and with `additionalProperties: false` (closed).

use std::sync::Arc;

use serde_json::{Value, json};
use tool_core::{
    AdmittedCall, DefinitionsLimits, Gate, Limits, ToolError, ToolRegistry, ToolSpec,
    load_definitions, parse_call,
};

use super::{Question, Tally, translate};

/// The gates of one question.
#[derive(Debug)]
pub(super) struct Loaded {
    specs: Vec<ToolSpec>,
    /// Every tool is authorized; further arguments are let through.
    pub(super) open: Gate,
    /// Every tool is authorized; further arguments are refused.
    pub(super) closed: Gate,
}

impl Loaded {
    /// Translates, loads and registers; the error is a text for the report.
    pub(super) fn new(question: &Question, tally: &mut Tally) -> Result<Self, String> {
        let file = definition_file(question, tally)?;
        let specs = load_definitions(file.to_string().as_bytes(), DefinitionsLimits::default())
            .map_err(|error| error.to_string())?;
        let closed: Vec<_> = specs.iter().map(close).collect();
        let open = gate(&specs, |_| true)?;
        let closed = gate(&closed, |_| true)?;
        Ok(Self { specs, open, closed })
    }

    /// How many tools there are.
    pub(super) fn len(&self) -> usize {
        self.specs.len()
    }

    /// The parameters of a tool.
    pub(super) fn parameters(&self, name: &str) -> Option<&Value> {
        let spec = self.specs.iter().find(|spec| spec.name().as_str() == name);
        spec.map(ToolSpec::parameters)
    }

    /// A gate that authorizes every tool but this one.
    pub(super) fn without(&self, name: &str) -> Result<Gate, String> {
        gate(&self.specs, |other| other != name)
    }
}

/// What a gate says to a line of text.
pub(super) fn admit(gate: &Gate, line: &[u8]) -> Result<AdmittedCall, ToolError> {
    let call = parse_call(line).map_err(|malformed| ToolError::from(&malformed))?;
    gate.admit(&call)
}

fn definition_file(question: &Question, tally: &mut Tally) -> Result<Value, String> {
    let mut tools = Vec::with_capacity(question.functions.len());
    for (index, function) in question.functions.iter().enumerate() {
        let parameters = function.get("parameters").unwrap_or(&Value::Null);
        let parameters = translate(parameters, tally)
            .map_err(|error| format!("function {index}: parameters at {error}"))?;
        tools.push(json!({"type": "function", "function": {
            "name": function.get("name"),
            "description": function.get("description"),
            "parameters": parameters,
        }}));
    }
    Ok(Value::from(tools))
}

fn close(spec: &ToolSpec) -> ToolSpec {
    let mut parameters = spec.parameters().clone();
    parameters["additionalProperties"] = Value::Bool(false);
    spec.clone().with_parameters(parameters)
}

fn gate(specs: &[ToolSpec], is_authorized: impl Fn(&str) -> bool) -> Result<Gate, String> {
    let mut registry = ToolRegistry::new();
    for spec in specs {
        registry.declare(spec.clone()).map_err(|error| error.to_string())?;
    }
    let names = specs.iter().map(|spec| spec.name().as_str()).filter(|name| is_authorized(name));
    let scope = registry.scope(names).map_err(|error| error.to_string())?;
    Ok(Gate::new(Arc::new(registry), scope, Limits::default()))
}
