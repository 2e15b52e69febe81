//! Tool specs as the vendors write them.

use serde_json::{Value, json};

use crate::ToolSpec;

/// `{"type": "function", "function": {"name", "description", "parameters"}}`.
#[must_use]
pub fn render_openai(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": spec.name(),
            "description": spec.description(),
            "parameters": spec.parameters(),
        },
    })
}

/// `{"name", "description", "input_schema"}`.
#[must_use]
pub fn render_anthropic(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name(),
        "description": spec.description(),
        "input_schema": spec.parameters(),
    })
}

/// `{"name", "title"?, "description", "inputSchema", "annotations"}`.
#[must_use]
pub fn render_mcp(spec: &ToolSpec) -> Value {
    let hints = spec.annotations();
    let mut tool = json!({
        "name": spec.name(),
        "description": spec.description(),
        "inputSchema": spec.parameters(),
        "annotations": {
            "readOnlyHint": hints.is_read_only,
            "destructiveHint": hints.is_destructive,
            "idempotentHint": hints.is_idempotent,
            "openWorldHint": hints.is_open_world,
        },
    });
    if let Some(title) = spec.title() {
        tool["title"] = title.into();
    }
    tool
}
