//! How long a session lives, and how it can live longer.

use std::time::{Duration, Instant};

use rlm_backend::SandboxConfig;
use serde_json::{Value, json};

use crate::{
    backend::Trace,
    support::{Tool, soon},
};

/// How much longer a session lives by an extension, in seconds.
const EXTENSION: u64 = 3;

fn short(lifetime: u64, extensions: u64) -> SandboxConfig {
    SandboxConfig {
        session_lifetime_secs: lifetime,
        session_extensions: extensions,
        session_extension_secs: EXTENSION,
        warm_sessions: 0,
        ..SandboxConfig::default()
    }
}

fn ask(op: &str, id: &str) -> Value {
    json!({"op": op, "session_id": id})
}

#[tokio::test]
async fn a_life_is_extended_as_often_as_it_is_set_and_no_more() {
    crate::support::here!();
    let tool = Tool::with(short(100, 3));
    let id = tool.create().await;
    for left in [2, 1, 0] {
        let extended = tool.answer(ask("session_extend", &id)).await;
        assert_eq!(extended["extensions_left"], left);
        let ends_in = extended["ends_in_secs"].as_i64().unwrap();
        let expected = 100 + EXTENSION.cast_signed() * (3 - left);
        assert!((expected - 5..=expected).contains(&ends_in), "{ends_in} of {expected}");
    }
    let (kind, text) = tool.error(ask("session_extend", &id)).await;
    assert_eq!(kind, "limit_exceeded");
    assert!(text.contains("3 times already") && text.contains("session_create"), "{text}");
    let status = tool.answer(ask("session_status", &id)).await;
    assert_eq!(status["extensions_left"], 0);
    assert!(status["ends_in_secs"].as_i64().unwrap() > 100);
    assert!(status["expires_in_secs"].as_i64().unwrap() <= 109);
}

#[tokio::test]
async fn a_session_that_was_extended_outlives_its_first_end_and_ends_at_its_second() {
    crate::support::here!();
    // Long enough for a busy machine to make the session and to extend it.
    const FIRST: u64 = 6;
    const SECOND: u64 = FIRST + EXTENSION;
    let tool = Tool::with(short(FIRST, 1));
    let before = Instant::now();
    let id = tool.create().await;
    let made = Instant::now();
    let run = json!({"op": "execute_code", "code": "x = 7", "session_id": id});
    let note = tool.answer(run).await["note"].as_str().unwrap().to_owned();
    assert!(note.contains("session_extend"), "{note}");
    tool.answer(ask("session_extend", &id)).await;
    // Past its first end, by any clock.
    let first_end = made + Duration::from_secs(FIRST) + Duration::from_millis(200);
    tokio::time::sleep_until(first_end.into()).await;
    let run = json!({"op": "execute_code", "code": "x", "session_id": id});
    let result = tool.call(run.clone()).await;
    if before.elapsed() < Duration::from_secs(SECOND) {
        let result = crate::support::json_of(&result);
        assert_eq!(result["value"], "7");
        let note = result["note"].as_str().unwrap();
        assert!(note.contains("ends in") && !note.contains("session_extend"), "{note}");
    }
    while tool.call(ask("session_status", &id)).await.is_ok() {
        assert!(made.elapsed() < Duration::from_secs(60), "it does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(before.elapsed() >= Duration::from_secs(SECOND));
    for call in [run, ask("session_extend", &id)] {
        let (_, text) = tool.error(call).await;
        assert!(text.contains("has expired"), "{text}");
    }
}

#[tokio::test]
async fn where_a_life_can_not_be_extended_it_says_so() {
    crate::support::here!();
    let tool = Tool::with(short(100, 0));
    let id = tool.create().await;
    let (kind, _) = tool.error(ask("session_extend", &id)).await;
    assert_eq!(kind, "limit_exceeded");
}

#[tokio::test]
async fn a_session_at_its_end_is_freed_also_while_a_call_runs() {
    crate::support::here!();
    let tool = Tool::with(SandboxConfig { idle_secs: 1000, ..short(4, 0) });
    let id = tool.create().await;
    let place = Trace::of_session(&tool, Some(&id)).await;
    let endless = json!({"op": "execute_bash", "command": "sleep 48161", "session_id": id});
    let (_, text) = tool.error(endless).await;
    assert!(text.contains("ended during the call"), "{text}");
    soon("its place is gone", || !place.is_there()).await;
    assert_eq!(crate::support::processes_with("48161"), Vec::<String>::new());
}
