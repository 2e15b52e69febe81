//! Snapshots of a session's files.

use rlm_backend::SandboxConfig;
use serde_json::{Value, json};

use crate::support::Tool;

fn ask(op: &str, id: &Value) -> Value {
    json!({"op": op, "session_id": id})
}

fn of(op: &str, id: &Value, snapshot: &Value) -> Value {
    json!({"op": op, "session_id": id, "snapshot_id": snapshot})
}

#[tokio::test]
async fn files_go_back_and_variables_stay() {
    crate::support::here!();
    let tool = Tool::new();
    let made = tool.python("x = 1; open('f', 'w').write('old')").await;
    let id = &made["session_id"];
    let snapshot = tool.answer(ask("snapshot_create", id)).await;
    assert_eq!((&snapshot["files"], &snapshot["bytes"]), (&json!(1), &json!(3)));
    tool.python("x = 2; open('f', 'w').write('new'); open('g', 'w').close()").await;
    let restored = tool.answer(of("snapshot_restore", id, &snapshot["snapshot_id"])).await;
    assert!(restored["note"].as_str().unwrap().contains("variables"), "{restored}");
    let after = tool.python("import os; (x, open('f').read(), os.listdir('.'))").await;
    assert_eq!(after["value"], "(2, 'old', ['f'])");
    assert_eq!(after.get("files"), None, "what was put back is no change of the call: {after}");
    // The directory is the same one for a program that works in it.
    assert_eq!(tool.prints("cat f; echo more > g; ls").await, "oldf\ng\n");
}

#[tokio::test]
async fn there_are_at_most_ten_and_one_less_when_one_is_deleted() {
    crate::support::here!();
    let tool = Tool::new();
    let id = &json!(tool.create().await);
    for _ in 0..10 {
        tool.answer(ask("snapshot_create", id)).await;
    }
    let (kind, text) = tool.error(ask("snapshot_create", id)).await;
    assert_eq!(kind, "limit_exceeded");
    assert!(text.contains("snapshot_delete"), "{text}");
    let list = tool.answer(ask("snapshot_list", id)).await;
    let first = &list["snapshots"][0]["snapshot_id"];
    assert_eq!(tool.answer(of("snapshot_delete", id, first)).await["deleted"], true);
    let list = tool.answer(ask("snapshot_list", id)).await;
    assert_eq!(list["snapshots"].as_array().unwrap().len(), 9);
    for op in ["snapshot_delete", "snapshot_restore"] {
        let (_, text) = tool.error(of(op, id, first)).await;
        assert!(text.contains("there is no snapshot"), "{text}");
    }
    tool.answer(ask("snapshot_create", id)).await;
}

#[tokio::test]
async fn a_full_directory_can_be_put_back() {
    crate::support::here!();
    let tool = Tool::with(SandboxConfig { disk_bytes: 1 << 20, ..SandboxConfig::default() });
    let small = tool.bash("echo x > small").await;
    let id = &small["session_id"];
    let snapshot = tool.answer(ask("snapshot_create", id)).await["snapshot_id"].clone();
    let full = tool.bash("head -c 1000000 /dev/zero > a; head -c 1000000 /dev/zero > b").await;
    assert_eq!(full["limit_exceeded"], "disk");
    assert_eq!(
        tool.error(json!({"op": "execute_bash", "command": "ls"})).await.0,
        "limit_exceeded"
    );
    assert_eq!(tool.error(ask("snapshot_create", id)).await.0, "limit_exceeded");
    tool.answer(of("snapshot_restore", id, &snapshot)).await;
    assert_eq!(tool.prints("ls").await, "small\n");
}

#[tokio::test]
async fn an_operators_directory_has_none() {
    crate::support::here!();
    let folder = tempfile::tempdir().unwrap();
    let config =
        SandboxConfig { workdir: Some(folder.path().to_owned()), ..SandboxConfig::default() };
    let tool = Tool::with(config);
    let id = &json!(tool.create().await);
    let (kind, text) = tool.error(ask("snapshot_create", id)).await;
    assert_eq!(kind, "backend_unavailable");
    assert!(text.contains("not supported"), "{text}");
}
