//! The tools with one operation each: the same sessions, and each allowed by its own name.

use std::sync::Arc;

use rlm_backend::{SandboxConfig, SandboxTool};
use sandbox::ToolSandbox;
use serde_json::{Value, json};
use tool_core::{Limits, ToolCall, ToolRegistry, ToolResult};

use crate::{script::played, support::json_of};

fn allowing(capabilities: &[&str]) -> ToolSandbox {
    let config = SandboxConfig::default();
    let tool = SandboxTool::with_backend(config, Arc::new(played())).unwrap();
    let mut registry = ToolRegistry::new();
    for single in tool.separate().unwrap() {
        registry.register(single).unwrap();
    }
    registry.register(Arc::new(tool)).unwrap();
    let scope = registry.scope(capabilities.iter().copied()).unwrap();
    ToolSandbox::new(Arc::new(registry), scope, Limits::default())
}

async fn call(sandbox: &ToolSandbox, tool: &str, arguments: Value) -> ToolResult {
    sandbox.execute(ToolCall::from_json("c", tool, arguments)).await.unwrap()
}

#[tokio::test]
async fn they_share_the_sessions_of_the_tool() {
    let sandbox = allowing(&["rlm_code", "rlm_bash", "sandbox"]);
    let first = json_of(&call(&sandbox, "rlm_code", json!({"code": "1 + 1"})).await);
    assert_eq!(first["value"], "2");
    let second = json_of(&call(&sandbox, "rlm_bash", json!({"command": "true"})).await);
    let third = json!({"op": "execute_code", "code": "(calls before)"});
    let third = json_of(&call(&sandbox, "sandbox", third).await);
    assert_eq!(
        (&second["session_id"], &third["session_id"]),
        (&first["session_id"], &first["session_id"])
    );
    assert_eq!(third["value"], "1");
}

#[tokio::test]
async fn each_is_allowed_by_its_own_name_and_knows_only_its_own_arguments() {
    let sandbox = allowing(&["rlm_code"]);
    assert_eq!(sandbox.offered().len(), 1);
    for (tool, arguments, kind) in [
        ("rlm_bash", json!({"command": "true"}), "unauthorized"),
        ("sandbox", json!({"op": "execute_code", "code": "1 + 1"}), "unauthorized"),
        ("rlm_code", json!({"code": "1 + 1", "op": "execute_bash"}), "invalid_arguments"),
        ("rlm_code", json!({"command": "true"}), "invalid_arguments"),
    ] {
        let result = call(&sandbox, tool, arguments).await;
        assert_eq!(result.error_kind().unwrap().to_string(), kind, "{tool}");
    }
    let whole = allowing(&["sandbox"]);
    let refused = call(&whole, "rlm_code", json!({"code": "1 + 1"})).await;
    assert_eq!(refused.error_kind().unwrap().to_string(), "unauthorized");
}

#[tokio::test]
async fn a_query_is_refused_under_its_own_name() {
    let sandbox = allowing(&["rlm_query"]);
    let result = call(&sandbox, "rlm_query", json!({"prompt": "?"})).await;
    assert_eq!(result.error_kind().unwrap().to_string(), "backend_unavailable");
    assert!(result.for_model().contains("rlm_query"), "{}", result.for_model());
}
