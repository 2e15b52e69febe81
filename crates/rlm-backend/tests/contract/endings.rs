//! Interpreters that die, never end, or are not there any more.

use std::{sync::Arc, time::Duration};

use rlm_backend::{SandboxConfig, SandboxTool};
use serde_json::json;

use crate::{
    script::played,
    support::{Tool, soon},
};

#[tokio::test]
async fn a_death_is_told_and_the_next_call_has_another_interpreter() {
    let backend = played();
    let config = SandboxConfig { warm_sessions: 0, ..SandboxConfig::default() };
    let tool = SandboxTool::with_backend(config, Arc::new(backend.clone())).unwrap();
    let tool = Tool::over(tool, &["sandbox"]);
    tool.python("1 + 1").await;
    let died = tool.python("import os; os._exit(5)").await;
    assert_eq!((&died["exit_code"], &died["state"]), (&json!(5), &json!("lost")));
    let next = tool.python("(calls before)").await;
    assert_eq!((&next["value"], &next["state"]), (&json!("0"), &json!("restored")));
    assert_eq!((&next["generation"], backend.started()), (&json!(2), 2));
}

#[tokio::test]
async fn the_deadline_interrupts_and_what_does_not_obey_is_killed() {
    let tool = SandboxTool::with_backend(SandboxConfig::default(), Arc::new(played())).unwrap();
    let tool = Tool::over(tool, &["sandbox"]);
    tool.python("1 + 1").await;
    let interrupted = tool.python_for("while True: pass", 1500).await;
    assert_eq!((&interrupted["timed_out"], &interrupted["state"]), (&json!(true), &json!("kept")));
    assert_eq!(interrupted["stdout"], "before\n");
    let killed = tool.python_for("(never ends)", 1500).await;
    assert_eq!((&killed["timed_out"], &killed["state"]), (&json!(true), &json!("lost")));
    assert!(killed["note"].as_str().unwrap().contains("killed"), "{killed}");
    assert_eq!(tool.python("1 + 1").await["value"], "2");
}

#[tokio::test]
async fn every_place_is_freed_with_the_tool() {
    let backend = played();
    let config = SandboxConfig { warm_sessions: 2, ..SandboxConfig::default() };
    let tool = SandboxTool::with_backend(config, Arc::new(backend.clone())).unwrap();
    let tool = Tool::over(tool, &["sandbox"]);
    tool.python("1 + 1").await;
    soon("the pool is full", || backend.started() == 3).await;
    drop(tool);
    soon("all are freed", || backend.closed() == backend.opened()).await;
    assert_eq!(backend.opened(), 3);
}

#[tokio::test]
async fn a_caller_that_goes_away_interrupts_and_the_session_lives_on() {
    let tool = SandboxTool::with_backend(SandboxConfig::default(), Arc::new(played())).unwrap();
    let tool = Tool::over(tool, &["sandbox"]);
    let endless = tool.python_for("while True: pass", 60_000);
    tokio::time::timeout(Duration::from_millis(200), endless).await.unwrap_err();
    let next = tool.python("1 + 1").await;
    assert_eq!((&next["value"], &next["state"]), (&json!("2"), &json!("kept")));
}
