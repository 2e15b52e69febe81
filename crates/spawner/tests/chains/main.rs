//! Chains of our own: contained whatever they are made of, and each by itself.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    ffi::OsString,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use chain::{ChainLimits, ContextPolicy};
use model::{Sampling, ScriptedModel};
use serde_json::json;
use spawner::{
    AgentHost, AgentPool, AgentRequest, AgentState, ChainParts, ChainRequest, Collect,
    DelegationPlan, OrchestrationBounds, OutputPiece, SubOutcome, SubStatus, SubTask,
    SubagentConfig, orchestrate,
};
use tokio_util::sync::CancellationToken;
use tool_core::{
    AuthorizationScope, BoxFuture, ProviderError, ToolCall, ToolOutput, ToolResult,
    ToolResultProvider, ToolSpec,
};

/// Answers whatever it is asked, and remembers it; some calls it never answers, or panics at.
#[derive(Debug, Default)]
struct Anything {
    asked: Arc<Mutex<Vec<String>>>,
}

impl ToolResultProvider for Anything {
    fn next_result(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolResult, ProviderError>> {
        self.asked.lock().unwrap().push(call.name.clone());
        Box::pin(async move {
            match call.name.as_str() {
                "hang" => std::future::pending::<()>().await,
                "panic" => panic!("as it was asked to"),
                _ => {}
            }
            Ok(ToolResult::ok(call.id, call.name, ToolOutput::text("done")))
        })
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), ProviderError>> {
        Box::pin(async { Ok(()) })
    }
}

/// A host that gives every chain all there is, whatever its scope, and a model that makes the call that
/// is the name of the model.
#[derive(Debug, Default)]
struct Generous {
    asked: Arc<Mutex<Vec<String>>>,
}

impl AgentHost for Generous {
    fn variable(&self, _name: &str) -> Option<OsString> {
        None
    }

    fn scope(&self, names: &[String]) -> Result<AuthorizationScope, String> {
        AuthorizationScope::new(names).map_err(|error| error.to_string())
    }

    fn chain(&self, request: ChainRequest<'_>) -> Result<ChainParts, String> {
        let call = request.model.ok_or("no model")?;
        let lines = [
            json!({"calls": [{"name": call, "arguments": {}}], "usage": {"input_tokens": 5, "output_tokens": 1}}),
            json!({"text": format!("after {call}"), "usage": {"input_tokens": 7, "output_tokens": 2}}),
        ];
        let script = lines.map(|line| line.to_string()).join("\n");
        let spec = |name: &str| ToolSpec::new(name, "x", json!({"type": "object"})).unwrap();
        Ok(ChainParts {
            model: Arc::new(ScriptedModel::from_jsonl("m", &script).unwrap()),
            results: Arc::new(Anything { asked: Arc::clone(&self.asked) }),
            offered: ["a", "b", "hang", "panic"].map(spec).into(),
            sampling: Sampling::default(),
            limits: ChainLimits::default(),
            context: ContextPolicy::default(),
        })
    }
}

fn scope(names: &[&str]) -> AuthorizationScope {
    AuthorizationScope::new(names).unwrap()
}

/// Sub-tasks that each make one call, in the scope of a parent that holds everything.
async fn run(host: &Generous, calls: &[(&str, &[&str])], budget: Duration) -> Vec<SubOutcome> {
    let sub_tasks = calls.iter().enumerate().map(|(index, (call, allow))| SubTask {
        id: format!("{index}-{call}"),
        task: "x".to_owned(),
        allow_tools: Some(allow.iter().map(ToString::to_string).collect()),
        model: Some((*call).to_owned()),
        budget_ms: None,
    });
    let plan = DelegationPlan { sub_tasks: sub_tasks.collect(), ..DelegationPlan::default() };
    let all = OrchestrationBounds::new(scope(&["a", "b", "hang", "panic"]));
    let checked = plan.check(OrchestrationBounds { budget, ..all }, host).unwrap();
    orchestrate(&checked, host, CancellationToken::new()).await
}

#[tokio::test]
async fn a_source_of_results_that_would_answer_more_is_not_asked() {
    let host = Generous::default();
    let outcomes = run(&host, &[("a", &["a"]), ("b", &["a"])], Duration::from_secs(20)).await;
    assert!(outcomes.iter().all(|outcome| outcome.status == SubStatus::Answered), "{outcomes:?}");
    assert_eq!(*host.asked.lock().unwrap(), ["a"]);
    let metrics: Vec<_> = outcomes.iter().map(|outcome| outcome.metrics.unwrap()).collect();
    assert_eq!((metrics[0].refused_calls, metrics[1].refused_calls), (0, 1));
}

#[tokio::test]
async fn one_that_hangs_and_one_that_panics_have_markers_and_the_others_their_answers() {
    let host = Generous::default();
    let all: &[&str] = &["a", "hang", "panic"];
    let calls = [("hang", all), ("a", all), ("panic", all), ("a", all)];
    let began = Instant::now();
    let outcomes = run(&host, &calls, Duration::from_secs(2)).await;
    assert!(began.elapsed() >= Duration::from_secs(2) && began.elapsed() < Duration::from_secs(10));
    let statuses: Vec<_> = outcomes.iter().map(|outcome| outcome.status).collect();
    use SubStatus::{Answered, Cut, Panicked};
    assert_eq!(statuses, [Cut, Answered, Panicked, Answered]);
    let ids: Vec<_> = outcomes.iter().map(|outcome| outcome.id.as_str()).collect();
    assert_eq!(ids, ["0-hang", "1-a", "2-panic", "3-a"]);
    assert_eq!(outcomes[1].answer.as_deref(), Some("after a"));
    assert!(outcomes[0].answer.is_none() && outcomes[0].error.is_some());
}

#[tokio::test]
async fn a_plan_that_is_stopped_says_so_for_each() {
    let host = Generous::default();
    let sub_tasks = ["hang", "hang"].iter().enumerate().map(|(index, call)| SubTask {
        id: index.to_string(),
        task: "x".to_owned(),
        allow_tools: None,
        model: Some((*call).to_owned()),
        budget_ms: None,
    });
    let plan = DelegationPlan { sub_tasks: sub_tasks.collect(), ..DelegationPlan::default() };
    let checked = plan.check(OrchestrationBounds::new(scope(&["hang"])), &host).unwrap();
    let stop = CancellationToken::new();
    let soon = stop.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        soon.cancel();
    });
    let outcomes =
        tokio::time::timeout(Duration::from_secs(10), orchestrate(&checked, &host, stop));
    let outcomes = outcomes.await.unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.status == SubStatus::Cancelled), "{outcomes:?}");
}

fn pool(section: &str) -> AgentPool {
    let text = format!("{section}\ngrace_ms = 300\n[providers.own]\nkind = \"llm\"\n");
    let config: SubagentConfig = toml::from_str(&text).unwrap();
    AgentPool::new(config, Arc::new(Generous::default())).unwrap()
}

fn request(call: &str) -> AgentRequest {
    let parent_scope = scope(&["a", "hang", "panic"]);
    AgentRequest { model: Some(call.to_owned()), parent_scope, ..AgentRequest::new("x") }
}

#[tokio::test]
async fn an_agent_that_is_a_chain_answers_hangs_and_panics_by_itself() {
    let pool = pool("");
    let [well, hangs, panics] = ["a", "hang", "panic"].map(|call| pool.spawn(request(call)));
    let (well, hangs, panics) = (well.await.unwrap(), hangs.await.unwrap(), panics.await.unwrap());
    let well_ended = pool.checkout(well).unwrap().wait().await;
    assert_eq!((well_ended.state, well_ended.tokens), (AgentState::Exited, Some(15)));
    let collected = pool.collect(well, Collect::default()).await.unwrap();
    let text: Vec<_> = collected
        .output
        .pieces
        .iter()
        .map(|piece| match piece {
            OutputPiece::Bytes { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(text, ["call a: ok\n", "after a"]);
    let ask = Collect { since: Some(0), wait: Duration::from_secs(10), max: 1000 };
    let panicked = pool.collect(panics, ask).await.unwrap().record;
    assert_eq!(
        (panicked.state, panicked.reason.as_deref()),
        (AgentState::Failed, Some("it panicked"))
    );
    assert!(pool.status(hangs).unwrap().state.is_live());
    assert_eq!(pool.terminate(hangs).await.unwrap().state, AgentState::Terminated);
    assert_eq!(pool.live(), 0);
}

#[tokio::test]
async fn tokens_are_bounded_for_one_and_over_all() {
    let state = tempfile::tempdir().unwrap();
    let host = |total: u64| {
        let folder = state.path().display().to_string();
        pool(&format!("max_tokens = 100\ntotal_tokens = {total}\nstate_dir = {folder:?}"))
    };
    let pool = host(20);
    let asked = AgentRequest { tokens: Some(3), ..request("a") };
    let id = pool.spawn(asked).await.unwrap();
    let collect = Collect { since: Some(0), wait: Duration::from_secs(10), max: 1 << 16 };
    while pool.status(id).unwrap().state.is_live() {
        pool.collect(id, collect).await.unwrap();
    }
    let record = pool.status(id).unwrap();
    assert_eq!(record.state, AgentState::Failed);
    assert!(record.reason.unwrap().contains("the budget is 3"));
    // 6 were spent, and the rest is promised to the next.
    let next = pool.spawn(request("hang")).await.unwrap();
    let error = pool.spawn(request("a")).await.unwrap_err().to_string();
    assert!(error.contains("tokens"), "{error}");
    pool.terminate(next).await.unwrap();
    drop(pool);
    // Another 6 were spent; a restart of the host gives none of them back.
    let error = host(12).spawn(request("a")).await.unwrap_err().to_string();
    assert!(error.contains("the 12 tokens"), "{error}");
    host(13).spawn(request("a")).await.unwrap();
}
