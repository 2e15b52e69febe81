//! How calls and interpreters end, and what becomes of the session.

use std::time::{Duration, Instant};

use rlm_backend::SandboxConfig;
use serde_json::json;

use crate::{
    backend::Trace,
    support::{Tool, processes_with, soon},
};

#[tokio::test]
async fn a_timeout_keeps_the_session_and_the_output_so_far() {
    crate::support::here!();
    let tool = Tool::new();
    tool.python("x = 7").await;
    let started = Instant::now();
    let endless = tool.python_for("print('before', flush=True)\nwhile True: pass", 2000).await;
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!((&endless["timed_out"], &endless["success"]), (&json!(true), &json!(false)));
    assert_eq!((&endless["state"], &endless["stdout"]), (&json!("kept"), &json!("before\n")));
    assert_eq!(tool.python("x").await["value"], "7");

    tool.bash("y=8").await;
    let ask = json!({"op": "execute_bash", "command": "echo before; sleep 60", "timeout_ms": 2000});
    let endless = tool.answer(ask).await;
    assert_eq!((&endless["timed_out"], &endless["stdout"]), (&json!(true), &json!("before\n")));
    assert_eq!(tool.prints("echo $y").await, "8\n");
}

#[tokio::test]
async fn code_that_swallows_the_interrupt_is_killed_and_the_next_call_has_a_new_interpreter() {
    crate::support::here!();
    let tool = Tool::new();
    tool.python("x = 7; open('kept', 'w').close()").await;
    let code = "import time\nwhile True:\n  try: time.sleep(60)\n  except BaseException: pass";
    let lost = tool.python_for(code, 2000).await;
    assert_eq!((&lost["timed_out"], &lost["state"]), (&json!(true), &json!("lost")));
    assert!(lost["note"].as_str().unwrap().contains("killed"), "{lost}");
    let next = tool.python("import os; ('x' in globals(), os.listdir('.'))").await;
    assert_eq!(next["value"], "(False, ['kept'])");
    assert_eq!((&next["state"], &next["generation"]), (&json!("restored"), &json!(2)));
    assert!(next["note"].as_str().unwrap().contains("new interpreter"), "{next}");
    let after = tool.python("1").await;
    assert_eq!((&after["state"], &after["generation"]), (&json!("kept"), &json!(2)));
    assert_eq!(after.get("note"), None);
}

#[tokio::test]
async fn exits_and_kills_are_told_apart() {
    crate::support::here!();
    let tool = Tool::new();
    let exit = tool.python("x = 1\nimport sys; sys.exit(3)").await;
    assert_eq!((&exit["exit_code"], &exit["state"]), (&json!(3), &json!("kept")));
    assert_eq!(tool.python("x").await["value"], "1");
    let hard = tool.python("import os; os._exit(5)").await;
    assert_eq!((&hard["exit_code"], &hard["state"]), (&json!(5), &json!("lost")));
    assert_eq!(tool.python("1 + 1").await["value"], "2");

    let killed = tool.bash("echo out; kill -9 $$").await;
    assert_eq!((&killed["signal"], &killed["state"]), (&json!(9), &json!("lost")));
    assert_eq!((&killed["stdout"], &killed["success"]), (&json!("out\n"), &json!(false)));
    assert_eq!(tool.prints("echo again").await, "again\n");
}

#[tokio::test]
async fn a_session_that_is_destroyed_leaves_nothing() {
    crate::support::here!();
    let tool = Tool::new();
    let place = Trace::of(&tool).await;
    tool.python("import subprocess; p = subprocess.Popen(['sleep', '48151'])").await;
    let id = tool.bash("setsid sleep 48151 & mkdir -p a/b; chmod 0 a/b").await;
    soon("both run", || processes_with("48151").len() == 2).await;
    let id = id["session_id"].as_str().unwrap();
    let gone = tool.answer(json!({"op": "session_destroy", "session_id": id})).await;
    assert_eq!(gone["destroyed"], true);
    assert_eq!(processes_with("48151"), Vec::<String>::new());
    assert!(!place.is_there());
    // The default session is made anew.
    let next = tool.python("1").await;
    assert_ne!(next["session_id"], id);
}

#[tokio::test]
async fn a_session_can_be_destroyed_while_a_call_runs() {
    crate::support::here!();
    let tool = Tool::new();
    let id = tool.create().await;
    let code = "import subprocess; subprocess.run(['sleep', '48155'])";
    let endless = tool.call(json!({"op": "execute_code", "code": code, "session_id": id}));
    let destroy = async {
        soon("it runs", || processes_with("48155").len() == 1).await;
        tool.answer(json!({"op": "session_destroy", "session_id": id})).await
    };
    let (ended, destroyed) = tokio::join!(endless, destroy);
    assert_eq!(destroyed["destroyed"], true);
    assert_eq!(processes_with("48155"), Vec::<String>::new());
    assert!(ended.for_model().contains("ended during the call"), "{}", ended.for_model());
}

#[tokio::test]
async fn everything_ends_with_the_tool() {
    crate::support::here!();
    let tool = Tool::new();
    let place = Trace::of(&tool).await;
    tool.bash("sleep 48152 &").await;
    soon("it runs", || processes_with("48152").len() == 1).await;
    drop(tool);
    soon("the session is gone", || processes_with("48152").is_empty() && !place.is_there()).await;
}

#[tokio::test]
async fn a_session_expires_also_where_nobody_calls() {
    crate::support::here!();
    let config = SandboxConfig { idle_secs: 1, ..SandboxConfig::default() };
    let tool = Tool::with(config);
    let place = Trace::of(&tool).await;
    let id = tool.bash("sleep 48153 &").await["session_id"].clone();
    soon("the session is gone", || processes_with("48153").is_empty() && !place.is_there()).await;
    let (kind, text) = tool.error(json!({"op": "session_status", "session_id": id})).await;
    assert_eq!(kind, "execution_failed");
    assert!(text.contains("has expired") && text.contains("session_create"), "{text}");
    assert_ne!(tool.python("1").await["session_id"], id);
}

#[tokio::test]
async fn a_caller_that_goes_away_interrupts_and_keeps_the_session() {
    crate::support::here!();
    let tool = Tool::new();
    tool.python("x = 5").await;
    let endless = tool.python("import time; time.sleep(60)");
    let gave_up = tokio::time::timeout(Duration::from_millis(300), endless).await;
    assert!(gave_up.is_err());
    let started = Instant::now();
    let next = tool.python("x").await;
    assert_eq!((&next["value"], &next["state"]), (&json!("5"), &json!("kept")));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn memory_over_its_ceiling_is_no_end_of_the_session() {
    crate::support::here!();
    let config = SandboxConfig { memory_bytes: 256 << 20, ..SandboxConfig::default() };
    let tool = Tool::with(config);
    let big = tool.python("block = bytearray(1 << 30)\nblock[::4096] = b'x' * len(block[::4096])");
    assert_eq!(big.await["success"], false);
    assert_eq!(tool.python("1 + 1").await["value"], "2");
}
