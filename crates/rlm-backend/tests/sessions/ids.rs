//! Ids, and how many sessions there may be.

use rlm_backend::SandboxConfig;
use serde_json::{Value, json};

use crate::support::Tool;

#[tokio::test]
async fn ids_that_name_no_session() {
    crate::support::here!();
    let tool = Tool::new();
    for op in ["session_status", "session_destroy"] {
        for id in [json!("abc"), json!(""), json!(7), Value::Null] {
            let (kind, _) = tool.error(json!({"op": op, "session_id": id})).await;
            assert_eq!(kind, "invalid_arguments", "{op} {id}");
        }
        assert_eq!(tool.error(json!({"op": op})).await.0, "invalid_arguments");
        let unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let (kind, text) = tool.error(json!({"op": op, "session_id": unknown})).await;
        assert_eq!(kind, "execution_failed");
        assert!(text.contains(unknown) && text.contains("session_create"), "{text}");
    }
}

#[tokio::test]
async fn an_operation_takes_its_own_arguments_alone() {
    crate::support::here!();
    let tool = Tool::new();
    for arguments in [
        json!({"op": "execute_code"}),
        json!({"op": "execute_code", "command": "true"}),
        json!({"op": "execute_bash", "code": "1"}),
        json!({"op": "session_create", "code": "1"}),
        json!({"op": "execute_code", "code": "1", "shell": true}),
        json!({"op": "no_such"}),
        json!({"code": "1"}),
    ] {
        let (kind, text) = tool.error(arguments.clone()).await;
        assert_eq!(kind, "invalid_arguments", "{arguments}: {text}");
    }
}

#[tokio::test]
async fn destroying_twice_is_an_error() {
    crate::support::here!();
    let tool = Tool::new();
    let id = tool.create().await;
    let ask = json!({"op": "session_destroy", "session_id": id});
    tool.answer(ask.clone()).await;
    let (kind, text) = tool.error(ask).await;
    assert_eq!(kind, "execution_failed");
    assert!(text.contains("was destroyed"), "{text}");
}

#[tokio::test]
async fn too_many_sessions_are_refused_until_one_ends() {
    crate::support::here!();
    let tool = Tool::with(SandboxConfig { max_sessions: 2, ..SandboxConfig::default() });
    let first = tool.create().await;
    tool.create().await;
    for arguments in [json!({"op": "session_create"}), json!({"op": "execute_code", "code": "1"})] {
        let (kind, text) = tool.error(arguments).await;
        assert_eq!(kind, "limit_exceeded");
        assert!(text.contains("session_destroy"), "{text}");
    }
    tool.answer(json!({"op": "session_destroy", "session_id": first})).await;
    assert_eq!(tool.python("1 + 1").await["value"], "2");
}

#[tokio::test]
async fn the_status_of_a_session() {
    crate::support::here!();
    let tool = Tool::new();
    let id = tool.create().await;
    let ask = json!({"op": "session_status", "session_id": id});
    let before = tool.answer(ask.clone()).await;
    assert_eq!(before["python"], json!({"running": false, "generation": 0, "version": null}));
    tool.answer(json!({"op": "execute_code", "code": "1", "session_id": id})).await;
    let after = tool.answer(ask).await;
    assert_eq!(
        (&after["python"]["running"], &after["bash"]["running"]),
        (&json!(true), &json!(false))
    );
    assert!(after["python"]["version"].as_str().unwrap().starts_with('3'), "{after}");
    assert!(after["expires_in_secs"].as_u64().unwrap() <= 900);
}

#[tokio::test]
async fn without_a_model_a_recursive_query_is_not_to_be_had() {
    crate::support::here!();
    let (kind, text) = Tool::new().error(json!({"op": "recursive_query", "prompt": "x"})).await;
    assert_eq!(kind, "backend_unavailable");
    assert!(text.contains("no model is configured"), "{text}");
}
