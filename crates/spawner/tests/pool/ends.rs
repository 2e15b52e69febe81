//! How agents end, and that nothing is left.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use spawner::{
    AgentError, AgentLog, AgentPool, AgentRequest, AgentState, Collect, NoHost, OutputStream,
};
use tool_core::ExitStatus;

use crate::support::{config, ended, helper, pool, processes, spawn, until, way, written};

#[tokio::test]
async fn an_exit_code_is_known_at_once() {
    let pool = way(&["exit", "3"]);
    let id = spawn(&pool, "x").await;
    assert!(pool.status(id).unwrap().pid.is_some());
    let record = ended(&pool, id).await;
    assert_eq!((record.state, record.exit), (AgentState::Failed, Some(ExitStatus::Code(3))));
    assert!(matches!(pool.checkout(id), Err(AgentError::Ended { .. })));
    let crashed = way(&["crash"]);
    let id = spawn(&crashed, "x").await;
    let record = ended(&crashed, id).await;
    assert_eq!((record.state, record.exit), (AgentState::Failed, Some(ExitStatus::Signal(6))));
    assert_eq!(written(&crashed, id, OutputStream::Stdout).await, b"about to crash\n");
}

#[tokio::test]
async fn a_handle_that_is_dropped_ends_the_tree() {
    let pool = pool("", "program = \"sh\"\nargs = [\"-c\", \"sleep 57.1 & sleep 57.1\"]");
    let id = spawn(&pool, "x").await;
    until("both run", || processes("57.1") >= 2).await;
    let handle = pool.checkout(id).unwrap();
    assert_eq!(handle.status().state, AgentState::Running);
    drop(handle);
    until("nothing runs", || processes("57.1") == 0).await;
    assert_eq!(ended(&pool, id).await.state, AgentState::Terminated);
}

#[tokio::test]
async fn a_handle_that_is_given_back_ends_nothing_and_the_pool_ends_all() {
    let pool = pool("", "program = \"sh\"\nargs = [\"-c\", \"sleep 57.2 & sleep 57.2\"]");
    let id = spawn(&pool, "x").await;
    pool.release(pool.checkout(id).unwrap());
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(pool.status(id).unwrap().state, AgentState::Running);
    assert!(matches!(pool.evict(id), Err(AgentError::Alive { .. })));
    drop(pool);
    until("nothing runs", || processes("57.2") == 0).await;
}

#[tokio::test]
async fn termination_takes_the_tree_along_and_can_be_repeated() {
    let pool = pool("", "program = \"sh\"\nargs = [\"-c\", \"sleep 57.3 & wait\"]");
    let id = spawn(&pool, "x").await;
    until("it runs", || processes("57.3") >= 1).await;
    let record = pool.terminate(id).await.unwrap();
    assert_eq!(record.state, AgentState::Terminated);
    assert_eq!(processes("57.3"), 0);
    assert_eq!(pool.terminate(id).await.unwrap(), record);
    assert_eq!(pool.evict(id).unwrap(), record);
    assert!(matches!(pool.status(id), Err(AgentError::Evicted { .. })));
}

#[tokio::test]
async fn one_that_ignores_sigterm_is_killed_while_others_answer() {
    let mut config = config("", "args = [\"deaf\"]");
    config.grace_ms = 700;
    let pool = Arc::new(AgentPool::new(config, Arc::new(NoHost)).unwrap());
    let id = spawn(&pool, "x").await;
    let other = spawn(&pool, "y").await;
    until("it is deaf", || pool.status(id).unwrap().stdout_bytes > 0).await;
    let began = Instant::now();
    let ending = tokio::spawn({
        let pool = Arc::clone(&pool);
        async move { pool.terminate(id).await.unwrap() }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let asked = Instant::now();
    assert!(pool.status(other).unwrap().state.is_live());
    assert!(asked.elapsed() < Duration::from_millis(100));
    let record = ending.await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(700));
    assert_eq!((record.state, record.exit), (AgentState::Terminated, Some(ExitStatus::Signal(9))));
    assert_eq!(written(&pool, id, OutputStream::Stdout).await, b"deaf\n");
}

#[tokio::test]
async fn one_whose_child_holds_the_pipes_ends_at_once() {
    let pool = way(&["hold"]);
    let began = Instant::now();
    let id = spawn(&pool, "x").await;
    let record = ended(&pool, id).await;
    assert_eq!(record.state, AgentState::Exited);
    assert_eq!(written(&pool, id, OutputStream::Stdout).await, b"held\n");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn time_that_is_over_ends_it_and_its_output_stays() {
    let pool = way(&["deaf"]);
    let mut request = AgentRequest::new("x");
    request.timeout = Some(Duration::from_millis(600));
    let id = pool.spawn(request).await.unwrap();
    let record = ended(&pool, id).await;
    assert_eq!(record.state, AgentState::TimedOut);
    assert!(record.reason.unwrap().contains("time"));
    assert_eq!(written(&pool, id, OutputStream::Stdout).await, b"deaf\n");
}

#[tokio::test]
async fn silence_is_marked_and_said() {
    let pool = pool("stall_secs = 1", "args = [\"sleep\"]");
    let id = spawn(&pool, "x").await;
    until("it stalls", || pool.status(id).unwrap().state == AgentState::Stalled).await;
    assert_eq!(pool.status(id).unwrap().reason.as_deref(), Some("no output for 1 s"));
    assert!(pool.status(id).unwrap().state.is_live());
    pool.drain().await;
    assert_eq!(pool.status(id).unwrap().state, AgentState::Terminated);
    assert_eq!(pool.live(), 0);
}

#[tokio::test]
async fn a_policy_starts_it_again_with_growing_pauses_and_then_gives_up() {
    let pool = pool("", "args = [\"exit\", \"3\"]\nrestarts = 2\nrestart_pause_ms = 200");
    let began = Instant::now();
    let id = spawn(&pool, "x").await;
    let record = ended(&pool, id).await;
    assert_eq!((record.state, record.restarts), (AgentState::Failed, 2));
    assert!(began.elapsed() >= Duration::from_millis(600));
}

#[tokio::test]
async fn a_missing_program_has_a_fallback_or_is_named() {
    let mut config = config("", "args = [\"echo\"]");
    let mut missing = config.providers["helper"].clone();
    missing.program = Some("no-such-agent".to_owned());
    config.providers.insert("alone".to_owned(), missing.clone());
    missing.fallback = Some("helper".to_owned());
    config.providers.insert("first".to_owned(), missing);
    let pool = AgentPool::new(config, Arc::new(NoHost)).unwrap();
    let error = pool.spawn(AgentRequest::new("x").with_provider("alone")).await.unwrap_err();
    assert!(error.to_string().contains("\"no-such-agent\""), "{error}");
    assert_eq!(pool.live(), 0);
    let id = pool.spawn(AgentRequest::new("x").with_provider("first")).await.unwrap();
    let record = ended(&pool, id).await;
    assert_eq!((record.provider.as_str(), record.state), ("helper", AgentState::Exited));
    assert_eq!(record.fallback_for.as_deref(), Some("first"));
    assert_eq!(written(&pool, id, OutputStream::Stdout).await, b"x");
}

#[tokio::test]
async fn a_missing_directory_is_told_from_a_missing_program() {
    let mut config = config("", "args = [\"echo\"]");
    config.workdir = Some("/no/such/place".into());
    let pool = AgentPool::new(config, Arc::new(NoHost)).unwrap();
    let error = pool.spawn(AgentRequest::new("x")).await.unwrap_err().to_string();
    assert!(error.contains("working directory") && error.contains("/no/such/place"), "{error}");
}

#[tokio::test]
async fn agents_are_known_after_a_restart_and_other_processes_can_end_them() {
    let state = tempfile::tempdir().unwrap();
    let mut config = config("", "args = [\"echo\"]");
    config.state_dir = Some(state.path().to_owned());
    let mut sleeper = config.providers["helper"].clone();
    sleeper.args = Some(vec!["sleep".to_owned()]);
    config.providers.insert("sleeper".to_owned(), sleeper);
    config.provider = Some("helper".to_owned());
    let pool = AgentPool::new(config.clone(), Arc::new(NoHost)).unwrap();
    let done = spawn(&pool, "first").await;
    ended(&pool, done).await;
    let asked = pool.spawn(AgentRequest::new("x").with_provider("sleeper")).await.unwrap();
    let log = AgentLog::new(state.path());
    log.request_end(asked).unwrap();
    assert_eq!(ended(&pool, asked).await.state, AgentState::Terminated);
    let states: Vec<_> = log.list().unwrap().iter().map(|record| record.state).collect();
    assert_eq!(states, [AgentState::Exited, AgentState::Terminated]);
    drop(pool);

    let later = AgentPool::new(config, Arc::new(NoHost)).unwrap();
    assert_eq!(later.list().len(), 2);
    assert_eq!(later.status(done).unwrap().state, AgentState::Exited);
    let collected = later.collect(done, Collect::default()).await.unwrap();
    assert!(collected.is_done);
    assert_eq!(written(&later, done, OutputStream::Stdout).await, b"first");
    assert_ne!(spawn(&later, "x").await, done);
}

#[tokio::test]
async fn a_hundred_in_a_row_leave_nothing() {
    let pool = pool("max_total = 200", "program = \"true\"\nargs = []");
    let warm = spawn(&pool, "x").await;
    ended(&pool, warm).await;
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let (before, began) = (open(), Instant::now());
    for _ in 0..100 {
        let id = spawn(&pool, "x").await;
        assert_eq!(ended(&pool, id).await.state, AgentState::Exited);
    }
    println!("100 agents: {:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(20));
    until("no descriptor is left", || open() <= before + 2).await;
    assert_eq!(pool.live(), 0);
    let _ = helper();
}

#[tokio::test]
async fn one_that_was_forgotten_is_told_from_one_that_never_was() {
    let pool = way(&["echo"]);
    let id = spawn(&pool, "x").await;
    ended(&pool, id).await;
    assert_eq!(pool.evict(id).unwrap().state, AgentState::Exited);
    assert!(matches!(pool.status(id), Err(AgentError::Evicted { .. })));
    assert!(matches!(pool.evict(id), Err(AgentError::Evicted { .. })));
    let never = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    assert!(matches!(pool.status(never), Err(AgentError::Unknown { .. })));
}

#[tokio::test]
async fn what_leaves_its_session_ends_at_the_deadline_too() {
    let mark = format!("session-mark-{}", std::process::id());
    let script =
        "setsid sh -c 'trap : TERM HUP; while :; do sleep 0.1; done' $0 & echo hi; sleep 60";
    let pool = pool(
        "timeout_secs = 1",
        &format!("program = \"sh\"\nargs = [\"-c\", {script:?}, {mark:?}]"),
    );
    let id = spawn(&pool, "x").await;
    until("the other session is there", || processes(&mark) > 1).await;
    assert_eq!(ended(&pool, id).await.state, AgentState::TimedOut);
    assert_eq!(written(&pool, id, OutputStream::Stdout).await, b"hi\n");
    until("nothing of it is left", || processes(&mark) == 0).await;
}
