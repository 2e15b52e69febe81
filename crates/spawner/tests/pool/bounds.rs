//! The operator's bounds hold, whatever is asked for.

use std::{sync::Arc, time::Duration};

use spawner::{AgentPool, AgentRequest, AgentState, NoHost, OutputStream, SpawnError};
use tool_core::AuthorizationScope;

use crate::support::{config, ended, pool, spawn, written};

fn bound(error: &SpawnError) -> &str {
    match error {
        SpawnError::Bound { bound, .. } => bound,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_pool_of_nothing_refuses_and_does_not_panic() {
    let pool = pool("max_live = 0", "args = [\"echo\"]");
    let error = pool.spawn(AgentRequest::new("x")).await.unwrap_err();
    assert_eq!(bound(&error), "max_live");
    assert!(pool.list().is_empty());
}

#[tokio::test]
async fn of_many_spawns_as_many_succeed_as_there_are_places() {
    let pool = pool("max_live = 3", "args = [\"sleep\"]");
    let spawns = (0..10).map(|_| pool.spawn(AgentRequest::new("x")));
    let answers = futures_util::future::join_all(spawns).await;
    let (started, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!((started.len(), refused.len()), (3, 7));
    for error in refused {
        let error = error.unwrap_err();
        assert_eq!(bound(&error), "max_live");
        assert!(error.to_string().contains("terminate one"), "{error}");
    }
    pool.terminate(*started[0].as_ref().unwrap()).await.unwrap();
    spawn(&pool, "again").await;
    pool.drain().await;
}

#[tokio::test]
async fn totals_count_what_was_and_depth_is_checked() {
    let pool = pool("max_total = 2", "args = [\"echo\"]");
    for _ in 0..2 {
        let id = spawn(&pool, "x").await;
        ended(&pool, id).await;
    }
    let error = pool.spawn(AgentRequest::new("x")).await.unwrap_err();
    assert_eq!(bound(&error), "max_total");
    let deep = AgentRequest { depth: 2, ..AgentRequest::new("x") };
    assert_eq!(bound(&pool.spawn(deep).await.unwrap_err()), "max_depth");
}

#[tokio::test]
async fn a_restart_of_the_host_gives_no_agents_back() {
    let state = tempfile::tempdir().unwrap();
    let mut config = config("max_total = 3", "args = [\"echo\"]");
    config.state_dir = Some(state.path().to_owned());
    for host in 0..3 {
        let pool = AgentPool::new(config.clone(), Arc::new(NoHost)).unwrap();
        let id = spawn(&pool, "x").await;
        ended(&pool, id).await;
        assert_eq!(pool.list().len(), host + 1);
    }
    let pool = AgentPool::new(config.clone(), Arc::new(NoHost)).unwrap();
    assert_eq!(bound(&pool.spawn(AgentRequest::new("x")).await.unwrap_err()), "max_total");
    drop(pool);
    // Those of yesterday do not count.
    let file = state.path().join("agents.jsonl");
    let old =
        std::fs::read_to_string(&file).unwrap().replace("\"started_ms\":1", "\"started_ms\":");
    std::fs::write(&file, old).unwrap();
    let pool = AgentPool::new(config, Arc::new(NoHost)).unwrap();
    assert_eq!(pool.list().len(), 3);
    let id = spawn(&pool, "x").await;
    ended(&pool, id).await;
}

#[tokio::test]
async fn a_restart_of_the_host_gives_no_time_and_no_output_back() {
    let cases = [
        (
            "total_output_bytes",
            "max_output_bytes = 2000\ntotal_output_bytes = 3000",
            "\"flood\", \"5000\"",
        ),
        ("total_time_secs", "timeout_secs = 1\ntotal_time_secs = 2", "\"sleep\""),
    ];
    for (name, section, args) in cases {
        let state = tempfile::tempdir().unwrap();
        let mut config = config(section, &format!("args = [{args}]"));
        config.state_dir = Some(state.path().to_owned());
        let host = || AgentPool::new(config.clone(), Arc::new(NoHost)).unwrap();
        for _ in 0..2 {
            let pool = host();
            let id = spawn(&pool, "x").await;
            ended(&pool, id).await;
        }
        assert_eq!(bound(&host().spawn(AgentRequest::new("x")).await.unwrap_err()), name);
        // Those of yesterday do not count.
        let file = state.path().join("agents.jsonl");
        let old = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, old.replace("\"started_ms\":1", "\"started_ms\":")).unwrap();
        let pool = host();
        let id = spawn(&pool, "x").await;
        ended(&pool, id).await;
    }
}

#[tokio::test]
async fn agents_whose_host_was_killed_count_with_what_they_had() {
    let state = tempfile::tempdir().unwrap();
    let mut config = config("total_time_secs = 9\ntotal_output_bytes = 5000", "args = [\"echo\"]");
    config.state_dir = Some(state.path().to_owned());
    let host = || AgentPool::new(config.clone(), Arc::new(NoHost)).unwrap();
    let pool = host();
    let id = spawn(&pool, "x").await;
    ended(&pool, id).await;
    drop(pool);
    // As a host leaves it that is killed: the last line says that it runs, and so long ago that its
    // time is over.
    let file = state.path().join("agents.jsonl");
    let lines = std::fs::read_to_string(&file).unwrap();
    let mut first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let started = first["started_ms"].as_u64().unwrap() - 60_000;
    first["started_ms"] = started.into();
    first["timeout_ms"] = 8_000.into();
    std::fs::write(&file, format!("{first}\n")).unwrap();
    let output = state.path().join(format!("{id}.out"));
    std::fs::write(output, vec![0; 4000]).unwrap();
    let pool = host();
    assert_eq!(pool.status(id).unwrap().state, AgentState::Lost);
    let next = spawn(&pool, "x").await;
    // Of 9 s the lost one had 8.
    assert_eq!(pool.status(next).unwrap().timeout_ms, 1_000);
    ended(&pool, next).await;
    drop(pool);
    // And its 4000 bytes count.
    config.total_output_bytes = 4000;
    let pool = AgentPool::new(config, Arc::new(NoHost)).unwrap();
    let error = pool.spawn(AgentRequest::new("x")).await.unwrap_err();
    assert_eq!(bound(&error), "total_output_bytes");
}

#[tokio::test]
async fn time_and_output_are_bounded_over_all() {
    let first = pool("total_time_secs = 1", "args = [\"sleep\"]");
    let id = spawn(&first, "x").await;
    // All of it is promised to the first.
    assert_eq!(bound(&first.spawn(AgentRequest::new("x")).await.unwrap_err()), "total_time_secs");
    let record = ended(&first, id).await;
    assert_eq!((record.state, record.timeout_ms), (AgentState::TimedOut, 1000));
    assert_eq!(bound(&first.spawn(AgentRequest::new("x")).await.unwrap_err()), "total_time_secs");

    let pool =
        pool("max_output_bytes = 2000\ntotal_output_bytes = 3000", "args = [\"flood\", \"5000\"]");
    for _ in 0..2 {
        let id = spawn(&pool, "x").await;
        ended(&pool, id).await;
    }
    assert_eq!(bound(&pool.spawn(AgentRequest::new("x")).await.unwrap_err()), "total_output_bytes");
    let asked =
        AgentRequest { timeout: Some(Duration::from_secs(1 << 40)), ..AgentRequest::new("x") };
    assert!(pool.spawn(asked).await.is_err());
}

#[tokio::test]
async fn limits_of_a_provider_hold_for_its_agents() {
    // What is set, what a shell does against it, and what it writes if nothing holds it.
    let cases = [
        ("file_bytes = 65536", "head -c 1000000 /dev/zero > f && echo held by nothing"),
        ("cpu_secs = 1", "while :; do :; done; echo held by nothing"),
        (
            "memory_bytes = 67108864",
            "head -c 300000000 /dev/zero | tail > f && echo held by nothing",
        ),
        (
            "processes = 8",
            "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 20 & done && echo held by nothing",
        ),
    ];
    for (limit, code) in cases {
        let shell = format!("program = \"/bin/sh\"\nargs = [\"-c\", {code:?}]\n{limit}");
        let pool = pool("", &shell);
        let id = spawn(&pool, "x").await;
        let record = ended(&pool, id).await;
        let said = String::from_utf8(written(&pool, id, OutputStream::Stdout).await).unwrap();
        assert_eq!((record.state, said.as_str()), (AgentState::Failed, ""), "{limit}: {record:?}");
    }
}

#[tokio::test]
async fn no_agent_is_kept_from_the_oom_killer() {
    let shell = "program = \"/bin/cat\"\nargs = [\"/proc/self/oom_score_adj\"]";
    let pool = pool("", shell);
    let id = spawn(&pool, "x").await;
    ended(&pool, id).await;
    let said = String::from_utf8(written(&pool, id, OutputStream::Stdout).await).unwrap();
    assert!(said.trim().parse::<i32>().unwrap() >= 0, "{said}");
}

#[tokio::test]
async fn a_wider_scope_is_refused_by_name() {
    let pool = pool("allow = [\"a\", \"b\"]", "args = [\"echo\"]");
    let parent_scope = AuthorizationScope::new(["a", "c"]).unwrap();
    let ask = |allow: Option<&[&str]>| AgentRequest {
        parent_scope: parent_scope.clone(),
        allow: allow.map(|names| names.iter().map(ToString::to_string).collect()),
        ..AgentRequest::new("x")
    };
    for wider in [&["a", "b"][..], &["c"], &["d"]] {
        match pool.spawn(ask(Some(wider))).await.unwrap_err() {
            SpawnError::Scope(error) => assert_eq!(error.held, ["a"]),
            other => panic!("{other}"),
        }
    }
    for (asked, given) in [(None, &["a"][..]), (Some(&["a"][..]), &["a"]), (Some(&[]), &[])] {
        let id = pool.spawn(ask(asked)).await.unwrap();
        assert_eq!(pool.status(id).unwrap().scope, given);
    }
}
