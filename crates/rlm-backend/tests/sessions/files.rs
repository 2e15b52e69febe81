//! Files into confined sessions and out of them, and what calls make of them.

use std::fs;

use rlm_backend::{ProtectionConfig, SandboxConfig, SessionAccess};
use serde_json::{Value, json};
use tool_core::Content;

use crate::support::Tool;

fn put(path: &str, content: &str) -> Value {
    json!({"op": "file_put", "path": path, "content": content})
}

fn get(path: &str) -> Value {
    json!({"op": "file_get", "path": path})
}

#[tokio::test]
async fn a_file_that_is_put_is_read_by_both_languages_and_one_that_they_make_is_got() {
    crate::support::here!();
    let tool = Tool::new();
    tool.answer(put("data/in.txt", "one\ntwo\n")).await;
    assert_eq!(tool.prints("cat data/in.txt").await, "one\ntwo\n");
    let read = tool.python("sum(1 for line in open('data/in.txt'))").await;
    assert_eq!((&read["value"], read.get("files")), (&json!("2"), None));
    tool.bash("tr a-z A-Z < data/in.txt > out.txt").await;
    let got = tool.answer(get("out.txt")).await;
    assert_eq!((&got["content"], &got["size"]), (&json!("ONE\nTWO\n"), &json!(8)));
    let here = tool.prints("pwd").await;
    let absolute = format!("{}/out.txt", here.trim());
    assert_eq!(tool.answer(get(&absolute)).await["content"], "ONE\nTWO\n");
}

#[tokio::test]
async fn an_image_comes_as_an_image() {
    crate::support::here!();
    let tool = Tool::new();
    tool.bash(r"printf '\x89PNG\r\n\x1a\n and so on' > plot.png").await;
    let result = tool.call(get("plot.png")).await;
    let content = &result.outcome.unwrap().content;
    assert!(
        matches!(&content[1], Content::Image { media_type, data } if media_type == "image/png" && !data.is_empty())
    );
}

#[tokio::test]
async fn a_session_can_not_lead_the_host_out_of_its_directory() {
    crate::support::here!();
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("key"), "secret").unwrap();
    let tool = Tool::new();
    let target = secret.path().display();
    tool.bash(&format!(
        "ln -s {target}/key link; ln -s {target} way; ln -s /proc/self/root root; mkfifo fifo; mkdir d"
    ))
    .await;
    for path in ["link", "way/key", "root/etc/hostname", "fifo", "d", "../x", "/etc/hostname"] {
        for call in [get(path), put(path, "spoilt")] {
            let (kind, text) = tool.error(call).await;
            assert_eq!(kind, "execution_failed", "{path}: {text}");
            assert!(!text.contains("secret"), "{text}");
        }
        let forced = json!({"op": "file_put", "path": path, "content": "x", "overwrite": true});
        assert_eq!(tool.error(forced).await.0, "execution_failed", "{path}");
    }
    assert_eq!(fs::read_to_string(secret.path().join("key")).unwrap(), "secret");
    assert_eq!(fs::read_dir(secret.path()).unwrap().count(), 1);
    assert_eq!(tool.prints("readlink link").await, format!("{target}/key\n"), "it is as it was");
}

#[tokio::test]
async fn a_call_names_the_files_that_it_made_or_changed() {
    crate::support::here!();
    let tool = Tool::new();
    tool.bash("echo 1 > a; echo 2 > b").await;
    let changed = tool.bash("echo 33 > b; mkdir d; echo 4 > d/c; rm a").await;
    let expected = json!([{"path": "b", "size": 3}, {"path": "d/c", "size": 2}]);
    assert_eq!(changed["files"], expected);
    assert_eq!(tool.python("open('d/c').read()").await.get("files"), None);
    let many = tool.bash("mkdir m; for n in $(seq 150); do echo > m/$n; done").await;
    assert_eq!(many["files"].as_array().unwrap().len(), 100);
    assert_eq!(many["files_left_out"], 50);
    let too_many = tool.bash("for n in $(seq 2500); do echo > m/$n; done").await;
    assert_eq!(too_many.get("files"), None);
    assert!(too_many["files_not_listed"].as_str().unwrap().contains("2000"), "{too_many}");
}

#[tokio::test]
async fn a_file_that_is_too_large_is_refused_and_a_full_directory_takes_no_more() {
    crate::support::here!();
    let config =
        SandboxConfig { max_file_bytes: 1000, disk_bytes: 1 << 20, ..SandboxConfig::default() };
    let tool = Tool::with(config);
    let (kind, text) = tool.error(put("f", &"x".repeat(1001))).await;
    assert_eq!(kind, "limit_exceeded");
    assert!(text.contains("1001"), "{text}");
    tool.answer(put("f", &"x".repeat(1000))).await;

    // One file is bounded by the kernel, all of them after the call.
    let one = tool.bash("head -c 2000000 /dev/zero > one; got=$?; rm one; (exit $got)").await;
    assert_eq!((&one["success"], one.get("limit_exceeded")), (&json!(false), None), "{one}");
    let all = tool.bash("head -c 1000000 /dev/zero > a; head -c 1000000 /dev/zero > b").await;
    assert_eq!(all["limit_exceeded"], "disk");
    assert!(all["note"].as_str().unwrap().contains("session_destroy"), "{all}");
    for call in [
        json!({"op": "execute_code", "code": "1"}),
        json!({"op": "execute_bash", "command": "rm a"}),
        put("more", "x"),
    ] {
        let (kind, text) = tool.error(call).await;
        assert_eq!(kind, "limit_exceeded");
        assert!(text.contains("file_get"), "{text}");
    }
    assert_eq!(tool.answer(get("f")).await["size"], 1000);
    let id = &all["session_id"];
    tool.answer(json!({"op": "session_destroy", "session_id": id})).await;
    assert_eq!(tool.prints("ls").await, "");
}

#[tokio::test]
async fn a_call_that_fills_the_disk_is_interrupted() {
    crate::support::here!();
    let tool = Tool::with(SandboxConfig { disk_bytes: 1 << 20, ..SandboxConfig::default() });
    let fill = "for n in $(seq 2000); do head -c 500000 /dev/zero > f$n; sleep 0.05; done";
    let filled = tool.bash(fill).await;
    assert_eq!((&filled["limit_exceeded"], &filled["timed_out"]), (&json!("disk"), &json!(false)));
    assert!(filled["note"].as_str().unwrap().contains("session_destroy"), "{filled}");
    assert!(filled["duration_ms"].as_f64().unwrap() < 30_000.0, "{filled}");
}

#[tokio::test]
async fn the_operators_directory_takes_what_it_may_and_nothing_that_the_host_obeys() {
    crate::support::here!();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("given"), "text").unwrap();
    let with = |access| {
        crate::backend::hand_over(folder.path());
        Tool::with(SandboxConfig {
            workdir: Some(folder.path().to_owned()),
            workdir_access: access,
            disk_bytes: 1 << 20,
            ..SandboxConfig::default()
        })
    };
    let read_only = with(SessionAccess::ReadOnly);
    assert_eq!(read_only.answer(get("given")).await["content"], "text");
    assert!(read_only.error(put("new", "x")).await.1.contains("only be read"));
    let writable = with(SessionAccess::ReadWrite);
    for path in [".git/hooks/pre-commit", ".envrc"] {
        let (_, text) = writable.error(put(path, "x")).await;
        assert!(text.contains("programs of the host"), "{text}");
    }
    writable.answer(put("new", "x")).await;
    fs::write(folder.path().join("meanwhile"), "by somebody else").unwrap();
    let changed = writable.bash("echo y >> new").await;
    assert_eq!(changed["files"], json!([{"path": "new", "size": 3}]));
    assert!(!folder.path().join(".git").exists());
    let id = &changed["session_id"];
    let ended = writable.answer(json!({"op": "session_destroy", "session_id": id})).await;
    assert!(ended["changes"]["created"].to_string().contains("new"), "{ended}");
}

#[tokio::test]
async fn what_the_host_obeys_is_protected_from_code_and_what_is_born_is_told_at_the_end() {
    crate::support::here!();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".envrc"), "ours").unwrap();
    fs::write(folder.path().join("deploy"), "ours").unwrap();
    crate::backend::hand_over(folder.path());
    let config = SandboxConfig {
        workdir: Some(folder.path().to_owned()),
        workdir_access: SessionAccess::ReadWrite,
        protection: ProtectionConfig {
            protect: vec!["deploy".to_owned()],
            ..ProtectionConfig::default()
        },
        ..SandboxConfig::default()
    };
    let tool = Tool::with(config);
    for name in [".envrc", "deploy"] {
        assert_eq!(tool.bash(&format!("echo theirs > {name}")).await["success"], false);
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), "ours");
    }
    let born = tool.bash("mkdir d; echo 'layout evil' > d/.envrc; echo x > plain").await;
    assert_eq!(born["success"], true, "{born}");
    let id = &born["session_id"];
    let ended = tool.answer(json!({"op": "session_destroy", "session_id": id})).await;
    let told = ended["changes"]["executable_configuration"].to_string();
    assert!(told.contains("d/.envrc") && !told.contains("plain"), "{ended}");
}
