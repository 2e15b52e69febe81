//! What goes wrong with containers: images that lack something, memory and disk that run out, engines
//! that die.

use std::time::{Duration, Instant};

use rlm_backend::{DockerConfig, PullPolicy, SandboxConfig};
use serde_json::{Value, json};
use testkit::docker::{PrivateEngine, engine, engine_with};

use crate::{
    backend::{self, Trace},
    support::{Tool, here, soon},
};

/// The tool over the tests' engine with another image.
fn with_image(image: &str) -> Tool {
    let config = backend::of(SandboxConfig::default());
    let docker =
        DockerConfig { image: image.to_owned(), pull: PullPolicy::Never, ..config.docker.clone() };
    Tool::exactly(SandboxConfig { docker, ..config })
}

async fn refused(tool: &Tool) -> String {
    let (kind, text) = tool.error(json!({"op": "execute_code", "code": "1 + 1"})).await;
    assert_eq!(kind, "backend_unavailable", "{text}");
    text
}

#[tokio::test]
async fn an_image_says_what_it_lacks() {
    let images = ["remit-test:no-python", "remit-test:no-bash"];
    for (image, lacks) in images.into_iter().zip(["python3", "bash"]) {
        let Some(engine) = engine_with(image) else { return };
        let text = refused(&with_image(image)).await;
        assert!(text.contains(image) && text.contains(&format!("has no {lacks};")), "{text}");
        soon("nothing is left of looking into it", || {
            let mut labels = engine.labelled().into_iter().map(|container| container.labels);
            !labels.any(|labels| labels.get("remit.session").is_some_and(|it| it == "look"))
        })
        .await;
    }
}

#[tokio::test]
async fn an_image_that_is_not_there_is_named_with_what_can_be_done() {
    here!();
    let text = refused(&with_image("remit-test:no-such")).await;
    assert!(text.contains("remit-test:no-such") && text.contains("docker pull"), "{text}");
}

#[tokio::test]
async fn a_runtime_that_the_engine_does_not_have_is_named() {
    here!();
    let config = backend::of(SandboxConfig::default());
    let docker = DockerConfig { runtime: Some("runsc".to_owned()), ..config.docker.clone() };
    let text = refused(&Tool::exactly(SandboxConfig { docker, ..config })).await;
    assert!(text.contains("runsc"), "{text}");
}

#[tokio::test]
async fn memory_that_runs_out_is_told_by_its_name_and_the_session_goes_on() {
    here!();
    let tool = Tool::with(SandboxConfig { memory_bytes: 128 << 20, ..SandboxConfig::default() });
    tool.bash("y=8; echo kept > f").await;
    let code = "block = bytearray(1 << 30)\nfor at in range(0, 1 << 30, 4096): block[at] = 1";
    let big = tool.python_for(code, 30_000).await;
    assert_eq!(
        (&big["limit_exceeded"], &big["state"], &big["signal"]),
        (&json!("memory"), &json!("lost"), &json!(9)),
        "{big}"
    );
    let next = tool.python("1 + 1").await;
    assert_eq!((&next["value"], &next["state"]), (&json!("2"), &json!("restored")));
    assert_eq!(tool.prints("cat f; echo $y").await, "kept\n8\n", "the other interpreter lives on");
}

#[tokio::test]
async fn a_full_disk_is_an_error_of_the_program_that_writes() {
    here!();
    let tool = Tool::with(SandboxConfig { disk_bytes: 4 << 20, ..SandboxConfig::default() });
    let full = tool.python("open('f', 'wb').write(b'x' * (64 << 20))").await;
    assert_eq!(full["error"]["type"], "OSError", "{full}");
    assert!(full["error"]["message"].as_str().unwrap().contains("No space left"), "{full}");
    let tool = Tool::new();
    let full = tool.bash("head -c 2000000000 /dev/zero > /tmp/f; rm /tmp/f; echo goes on").await;
    assert!(full["stderr"].as_str().unwrap().contains("No space left"), "{full}");
    assert_eq!(full["stdout"], "goes on\n");
}

#[tokio::test]
async fn a_container_that_is_taken_away_is_told_and_made_anew() {
    here!();
    let tool = Tool::new();
    tool.python("x = 1; open('f', 'w').close()").await;
    let place = Trace::of(&tool).await;
    let snapshot = json!({"op": "snapshot_create", "session_id": session(&tool).await});
    let snapshot = tool.answer(snapshot).await["snapshot_id"].clone();
    let endless =
        tool.python_for("print('before', flush=True)\nimport time; time.sleep(60)", 60_000);
    let taken = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        place.take_away();
    };
    let started = Instant::now();
    let code = json!({"op": "execute_code", "code": "import time; time.sleep(60)"});
    let (lost, ()) = tokio::join!(tool.error(code), taken);
    drop(endless);
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(lost.0, "backend_unavailable", "{}", lost.1);
    assert!(lost.1.contains("was lost while the call ran"), "{}", lost.1);

    let next = tool.python("import os; ('x' in globals(), os.listdir('.'))").await;
    assert_eq!((&next["value"], &next["state"]), (&json!("(False, [])"), &json!("restored")));
    assert!(next["note"].as_str().unwrap().contains("new container"), "{next}");
    let restore = json!({
        "op": "snapshot_restore", "session_id": next["session_id"], "snapshot_id": snapshot,
    });
    tool.answer(restore).await;
    assert_eq!(tool.prints("ls").await, "f\n");
}

async fn session(tool: &Tool) -> Value {
    tool.bash("true").await["session_id"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_sessions_live_side_by_side() {
    here!();
    const COUNT: usize = 50;
    let config = SandboxConfig {
        max_sessions: COUNT as u64,
        warm_sessions: 0,
        memory_bytes: 64 << 20,
        ..SandboxConfig::default()
    };
    let tool = Tool::with(config);
    let mut ids = Vec::new();
    for _ in 0..COUNT {
        ids.push(tool.create().await);
    }
    for (at, id) in ids.iter().enumerate() {
        let code = format!("x = {at}; open('f', 'w').write('{at}')");
        let made =
            json!({"op": "execute_code", "code": code, "session_id": id, "timeout_ms": 30_000});
        assert_eq!(tool.answer(made).await["success"], true);
    }
    let asked = ids.iter().map(|id| {
        let code = "(x, open('f').read())";
        tool.answer(
            json!({"op": "execute_code", "code": code, "session_id": id, "timeout_ms": 30_000}),
        )
    });
    for (at, answer) in futures_util::future::join_all(asked).await.into_iter().enumerate() {
        assert_eq!(answer["value"], format!("({at}, '{at}')"), "{answer}");
    }
    drop(tool);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_dies_in_a_call_is_told_and_back_again_it_is_used_as_root() {
    let Some(private) = PrivateEngine::start(&[]) else { return };
    private.build_images(&["latest"]);
    let config = backend::of(SandboxConfig { warm_sessions: 1, ..SandboxConfig::default() });
    let docker = DockerConfig { host: Some(private.host()), ..config.docker.clone() };
    let tool = Tool::exactly(SandboxConfig { docker, ..config });
    tool.python_for("x = 1", 60_000).await;
    for round in 0..2 {
        let code = json!({
            "op": "execute_code", "code": "import time; time.sleep(100)", "timeout_ms": 110_000,
        });
        let other = tool.create().await;
        let mut also = code.clone();
        also["session_id"] = json!(other);
        let dies = async {
            tokio::time::sleep(Duration::from_millis(800)).await;
            tokio::task::block_in_place(|| private.kill());
        };
        let started = Instant::now();
        let (one, two, ()) = tokio::join!(tool.error(code), tool.error(also), dies);
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
        for (kind, text) in [one, two] {
            assert_eq!(kind, "backend_unavailable", "{round}: {text}");
            assert!(text.contains("was lost while the call ran"), "{round}: {text}");
        }
        let (kind, text) = tool.error(json!({"op": "execute_code", "code": "1"})).await;
        assert_eq!(kind, "backend_unavailable", "{text}");
        private.resume();
        let next = tool.python_for("'x' in globals()", 60_000).await;
        assert_eq!(next["value"], "False", "{round}: {next}");
        tool.python_for("x = 1", 60_000).await;
    }
    drop(tool);
    soon("nothing is left", || private.containers().is_empty()).await;
}

#[tokio::test]
async fn an_engine_that_is_not_there_is_replaced_only_by_what_is_listed() {
    let docker = DockerConfig {
        host: Some("unix:///no/such/docker.sock".to_owned()),
        ..DockerConfig::default()
    };
    let config = SandboxConfig { backend: "docker".to_owned(), docker, ..SandboxConfig::default() };
    let marker = std::env::temp_dir().join(format!("remit-ran-{}", std::process::id()));
    let touch = json!({"op": "execute_bash", "command": format!("touch {}", marker.display())});
    let alone = Tool::exactly(config.clone());
    let (kind, text) = alone.error(touch).await;
    assert_eq!(kind, "backend_unavailable");
    assert!(text.contains("/no/such/docker.sock"), "{text}");
    assert!(!marker.exists(), "nothing ran on the host");
    let fallback = vec!["local".to_owned()];
    let both = Tool::exactly(SandboxConfig { fallback, ..config });
    let ran = both.python("1 + 1").await;
    assert_eq!((&ran["value"], &ran["backend"]), (&json!("2"), &json!("local")));
    assert!(engine().is_none_or(|engine| !engine.host().contains("/no/such")));
}
