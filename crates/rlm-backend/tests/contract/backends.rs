//! Which backend is used, and that none is that was not asked for.

use std::sync::Arc;

use rlm_backend::{Backend, SandboxConfig, SandboxTool, SandboxToolError};
use serde_json::json;
use testkit::sessions::MockBackend;

use crate::{script::played, support::Tool};

fn over(backends: Vec<Arc<dyn Backend>>) -> Tool {
    let tool = SandboxTool::with_backends(SandboxConfig::default(), backends).unwrap();
    Tool::over(tool, &["sandbox"])
}

#[tokio::test]
async fn a_backend_that_is_missing_is_replaced_only_by_one_that_is_listed() {
    let missing = MockBackend::missing("docker", "no engine answers; start one");
    let tool = over(vec![Arc::new(missing.clone())]);
    let (kind, text) = tool.error(json!({"op": "execute_code", "code": "1 + 1"})).await;
    assert_eq!(kind, "backend_unavailable");
    assert!(text.contains("docker: no engine answers; start one"), "{text}");

    let tool = over(vec![Arc::new(missing), Arc::new(played().named("second"))]);
    let made = tool.answer(json!({"op": "session_create"})).await;
    assert_eq!(made["backend"], "second");
    let status = json!({"op": "session_status", "session_id": made["session_id"]});
    assert_eq!(tool.answer(status).await["backend"], "second");
    assert_eq!(tool.python("1 + 1").await["backend"], "second");
    let only = over(vec![Arc::new(played())]);
    assert_eq!(only.python("1 + 1").await.get("backend"), None);
}

#[test]
fn a_name_that_is_none_is_a_mistake_of_the_configuration() {
    for (backend, fallback, part) in [
        ("dcoker", vec![], "the valid names are \"local\" and \"docker\""),
        ("e2b", vec!["local"], "has no \"e2b\" backend"),
        ("local", vec!["firecracker"], "has no \"firecracker\" backend"),
    ] {
        let config = SandboxConfig {
            backend: backend.to_owned(),
            fallback: fallback.into_iter().map(str::to_owned).collect(),
            ..SandboxConfig::default()
        };
        let error = SandboxTool::new(config).unwrap_err();
        assert!(matches!(error, SandboxToolError::Config(_)));
        assert!(error.to_string().contains(part), "{error}");
    }
}
