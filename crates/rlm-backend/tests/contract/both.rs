//! One contract, each backend.

use std::sync::Arc;

use rlm_backend::{Backend, DockerBackend, DockerConfig, LocalBackend, SandboxConfig, SandboxTool};
use serde_json::{Value, json};
use testkit::docker::{IMAGE, engine};

use crate::{script::played, support::Tool};

fn over(backend: Arc<dyn Backend>) -> Tool {
    let tool = SandboxTool::with_backend(SandboxConfig::default(), backend).unwrap();
    Tool::over(tool, &["sandbox"])
}

/// The tool over each backend, with the backend's name.
fn tools() -> Vec<(&'static str, Tool)> {
    let local = Arc::new(LocalBackend::new(SandboxConfig::default()));
    let mut tools = vec![("mock", over(Arc::new(played()))), ("local", over(local))];
    tools.extend(engine().map(|engine| {
        let (host, image) = (Some(engine.host()), IMAGE.to_owned());
        let docker = DockerConfig { host, image, ..DockerConfig::default() };
        let config = SandboxConfig { docker, ..SandboxConfig::default() };
        ("docker", over(Arc::new(DockerBackend::new(config))))
    }));
    tools
}

#[tokio::test]
async fn code_runs_and_a_result_says_everything() {
    for (name, tool) in tools() {
        let result = tool.python("1 + 1").await;
        assert_eq!((&result["success"], &result["value"]), (&json!(true), &json!("2")), "{name}");
        assert_eq!((&result["state"], &result["generation"]), (&json!("kept"), &json!(1)));
        for field in ["stdout", "stderr", "session_id", "exit_code", "timed_out", "truncated"] {
            assert!(result.get(field).is_some(), "{name}: {field} of {result}");
        }
        assert!(result["duration_ms"].as_f64().unwrap() > 0.0);
        assert_eq!(tool.python("print('out')").await["stdout"], "out\n", "{name}");
    }
}

#[tokio::test]
async fn bash_runs_with_its_own_streams_and_status() {
    for (name, tool) in tools() {
        let result = tool.bash("echo out; echo err >&2; exit 3").await;
        assert_eq!((&result["stdout"], &result["stderr"]), (&json!("out\n"), &json!("err\n")));
        assert_eq!(
            (&result["exit_code"], &result["success"]),
            (&json!(3), &json!(false)),
            "{name}"
        );
        assert_eq!(tool.bash("true").await["success"], true, "{name}");
    }
}

#[tokio::test]
async fn a_query_is_refused_as_not_available() {
    for (name, tool) in tools() {
        let (kind, text) = tool.error(json!({"op": "recursive_query", "prompt": "?"})).await;
        assert_eq!(kind, "backend_unavailable", "{name}");
        assert!(text.contains("no model is configured"), "{text}");
    }
}

#[tokio::test]
async fn a_session_is_made_seen_extended_and_ended() {
    for (name, tool) in tools() {
        let made = tool.answer(json!({"op": "session_create"})).await;
        assert_eq!(made["backend"], name);
        let id = &made["session_id"];
        let ask = |op: &str| json!({"op": op, "session_id": id});
        let run = json!({"op": "execute_code", "code": "1 + 1", "session_id": id});
        assert_eq!(tool.answer(run).await["session_id"], *id);
        let status = tool.answer(ask("session_status")).await;
        assert_eq!((&status["backend"], &status["busy"]), (&json!(name), &json!(false)));
        assert_eq!(
            (&status["python"]["running"], &status["bash"]["running"]),
            (&json!(true), &json!(false))
        );
        assert_eq!(status["extensions_left"], 3);
        let extended = tool.answer(ask("session_extend")).await;
        assert_eq!(extended["extensions_left"], 2);
        assert_eq!(tool.answer(ask("session_destroy")).await["destroyed"], true);
        for op in ["session_destroy", "session_status", "session_extend"] {
            let (kind, text) = tool.error(ask(op)).await;
            assert_eq!(kind, "execution_failed", "{name}");
            assert!(text.contains("was destroyed"), "{text}");
        }
    }
}

#[tokio::test]
async fn the_default_session_is_made_by_the_first_call_and_made_anew_after_its_end() {
    let backend = played();
    let mock = over(Arc::new(backend.clone()));
    assert_eq!((backend.opened(), backend.started()), (0, 0), "nothing before the first call");
    let others = tools().into_iter().skip(1).map(|(_, tool)| tool);
    for tool in std::iter::once(mock).chain(others) {
        let first = tool.python("1 + 1").await["session_id"].clone();
        assert_eq!(tool.bash("true").await["session_id"], first);
        tool.answer(json!({"op": "session_destroy", "session_id": first})).await;
        assert_ne!(tool.python("1 + 1").await["session_id"], first);
    }
}

#[tokio::test]
async fn operations_are_read_strictly() {
    let cases = [
        json!({"op": "execute_code"}),
        json!({"op": "execute_code", "code": 1}),
        json!({"op": "execute_code", "code": "1 + 1", "command": "true"}),
        json!({"op": "execute_code", "code": "1 + 1", "timeout_ms": 0}),
        json!({"op": "execute_code", "code": "1 + 1", "language": "python"}),
        json!({"op": "execute_bash", "code": "true"}),
        json!({"op": "execute"}),
        json!({}),
        json!({"op": "session_create", "session_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
        json!({"op": "session_status"}),
        json!({"op": "session_status", "session_id": "nonsense"}),
        json!({"op": "session_extend"}),
        json!({"op": "file_put", "path": "f"}),
        json!({"op": "file_put", "path": "f", "content": "a", "content_base64": "YQ=="}),
        json!({"op": "file_put", "content": "a"}),
        json!({"op": "file_get"}),
        json!({"op": "file_get", "path": "f", "content": "a"}),
        json!({"op": "snapshot_restore", "session_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
    ];
    let backend = played();
    let tool = over(Arc::new(backend.clone()));
    for case in cases {
        assert_eq!(tool.error(case.clone()).await.0, "invalid_arguments", "{case}");
    }
    assert_eq!(backend.opened(), 0);
}

#[tokio::test]
async fn files_go_in_and_out_and_a_call_names_those_it_made() {
    for (name, tool) in tools() {
        let put = json!({"op": "file_put", "path": "given/in.txt", "content": "héllo"});
        let result = tool.answer(put.clone()).await;
        assert_eq!(
            (&result["bytes"], &result["path"]),
            (&json!(6), &json!("given/in.txt")),
            "{name}"
        );
        let (_, text) = tool.error(put.clone()).await;
        assert!(text.contains("overwrite"), "{name}: {text}");
        let replaced = json!({
            "op": "file_put", "path": "given/in.txt", "content_base64": "/wA=", "overwrite": true,
        });
        assert_eq!(tool.answer(replaced).await["bytes"], 2);
        let got = tool.answer(json!({"op": "file_get", "path": "given/in.txt"})).await;
        assert_eq!((&got["content_base64"], &got["size"]), (&json!("/wA="), &json!(2)), "{name}");

        let made = tool.python("open('made', 'w').write('12345')").await;
        assert_eq!(made["files"], json!([{"path": "made", "size": 5}]), "{name}");
        assert_eq!(tool.python("1 + 1").await.get("files"), None, "{name}");
        let part = json!({"op": "file_get", "path": "made", "offset": 1, "limit": 2});
        let got = tool.answer(part).await;
        assert_eq!((&got["content"], &got["next_offset"]), (&json!("23"), &json!(3)), "{name}");
        for path in ["../made", "/etc/hostname", "none"] {
            let (kind, _) = tool.error(json!({"op": "file_get", "path": path})).await;
            assert_eq!(kind, "execution_failed", "{name}: {path}");
        }
    }
}

#[tokio::test]
async fn a_backend_without_snapshots_says_so() {
    for (name, tool) in [("mock", over(Arc::new(played())))] {
        let id = tool.create().await;
        let calls: [Value; 4] = [
            json!({"op": "snapshot_create", "session_id": id}),
            json!({"op": "snapshot_list", "session_id": id}),
            json!({"op": "snapshot_restore", "session_id": id, "snapshot_id": "s"}),
            json!({"op": "snapshot_delete", "session_id": id, "snapshot_id": "s"}),
        ];
        for call in calls {
            let (kind, text) = tool.error(call).await;
            assert_eq!(kind, "backend_unavailable", "{name}");
            assert!(text.contains("not supported"), "{text}");
        }
    }
}
