//! How long the common operations take, said on standard error.

use std::{sync::Arc, time::Instant};

use rlm_backend::{LocalBackend, SandboxConfig, SessionManager};
use serde_json::json;

use crate::support::{Tool, soon};

#[tokio::test]
async fn the_common_operations_are_measured() {
    let tool = Tool::new();
    tool.python("1+1").await;
    tool.bash("true").await;
    let mut rows = [("execute_code(1+1)", Vec::new()), ("execute_bash(true)", Vec::new())];
    for _ in 0..100 {
        let started = Instant::now();
        assert_eq!(tool.python("1+1").await["value"], "2");
        rows[0].1.push(started.elapsed());
        let started = Instant::now();
        assert_eq!(tool.bash("true").await["success"], true);
        rows[1].1.push(started.elapsed());
    }
    let mut creations = Vec::new();
    for _ in 0..20 {
        let started = Instant::now();
        let id = tool.create().await;
        creations.push(started.elapsed());
        tool.answer(json!({"op": "session_destroy", "session_id": id})).await;
    }
    for (name, mut times) in rows.into_iter().chain([("session_create", creations)]) {
        times.sort();
        eprintln!("{name}: median {:?}", times[times.len() / 2]);
    }
}

#[tokio::test]
async fn a_session_that_is_ready_is_had_at_once() {
    let config = SandboxConfig::default();
    let manager = SessionManager::new(Arc::new(LocalBackend::new(config.clone())), config);
    let mut first = manager.create().await.unwrap();
    let mut times = Vec::new();
    for _ in 0..20 {
        soon("one is ready", || manager.warm_count() == 1).await;
        let started = Instant::now();
        let next = manager.create().await.unwrap();
        times.push(started.elapsed());
        manager.destroy(first).await.unwrap();
        first = next;
    }
    times.sort();
    eprintln!("session_create from the pool: median {:?}", times[times.len() / 2]);
    // An interpreter takes many times as long to start.
    assert!(times[times.len() / 2] < std::time::Duration::from_millis(5));
}
