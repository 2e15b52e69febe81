//! What is measured.

use std::{hint::black_box, sync::Arc};

use sandbox::{StaticLookup, ToolSandbox};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tool_core::{BoxFuture, CompiledSchema, Limits, ToolCall, ToolError, ToolOutput, ToolRegistry};

/// Eight properties of the kinds that real tools have.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "key": {"type": "string", "minLength": 1, "maxLength": 4096},
            "language": {"enum": ["en", "de", "fr"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "offset": {"type": "integer", "minimum": 0},
            "exact": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 8},
            "since": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
            "weight": {"type": ["number", "null"]},
        },
        "required": ["key"],
        "additionalProperties": false,
    })
}

pub(crate) const ARGUMENTS: &str = r#"{"key": "capital", "language": "en", "limit": 10, "offset": 0,
 "exact": true, "tags": ["city", "europe"], "since": "2024-02-29", "weight": 0.5}"#;

fn lookup(name: &str) -> Arc<StaticLookup> {
    let lookup = StaticLookup::new(name, [("capital", "Paris")]).unwrap();
    Arc::new(lookup.with_parameters(schema()))
}

/// A sandbox with so many tools, of which the lookup and one in two others are authorized.
pub(crate) fn sandbox_of(tools: usize) -> ToolSandbox {
    let mut registry = ToolRegistry::new();
    let mut allowed = vec!["lookup".to_owned()];
    for n in 1..tools {
        let name = format!("tool_{n}");
        let schema = json!({"type": "object"});
        let tool = StaticLookup::new(&name, [("a", "b")]).unwrap().with_parameters(schema);
        registry.register(Arc::new(tool)).unwrap();
        if n % 2 == 0 {
            allowed.push(name);
        }
    }
    registry.register(lookup("lookup")).unwrap();
    let registry = Arc::new(registry);
    let scope = registry.scope(allowed).unwrap();
    ToolSandbox::new(registry, scope, Limits::default())
}

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

/// A call through the same kind of future that does nothing.
fn no_op(value: &Value) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
    Box::pin(async move {
        black_box(value);
        Ok(ToolOutput::default())
    })
}

pub(crate) fn call() -> ToolCall {
    ToolCall::from_text("call_1", "lookup", ARGUMENTS)
}

/// What nobody can do without: parse, validate, and await a call that does nothing.
pub(crate) struct Parts(CompiledSchema);

impl Parts {
    pub(crate) fn new() -> Self {
        Self(CompiledSchema::compile(&schema()).unwrap())
    }

    pub(crate) async fn run(&self, call: &ToolCall) -> ToolOutput {
        let value: Value = serde_json::from_str(&call.arguments.to_text()).unwrap();
        assert!(self.0.is_valid(&value));
        no_op(&value).await.unwrap()
    }
}
