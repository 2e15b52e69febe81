//! `recursive_query` as a model calls it: through all stages, with a result in every case.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use rlm_backend::{QueryConfig, QueryModels, SandboxConfig, SandboxTool};
use sandbox::ToolSandbox;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tool_core::{
    ByteCount, CallId, Content, ErrorKind, Limits, Progress, ProgressSink, ToolCall, ToolRegistry,
    ToolResult,
};

use crate::support::{Program, here, python};

fn over(tool: SandboxTool, scope: &[&str]) -> ToolSandbox {
    let mut registry = ToolRegistry::new();
    for tool in tool.separate().unwrap() {
        registry.register(tool).unwrap();
    }
    registry.register(Arc::new(tool)).unwrap();
    let scope = registry.scope(scope.iter().copied()).unwrap();
    let limits = Limits::default().with_max_args(ByteCount(16 << 20)).unwrap();
    ToolSandbox::new(Arc::new(registry), scope, limits)
}

fn asking(root: &Arc<Program>) -> SandboxTool {
    let tool = SandboxTool::new(crate::backend::of(SandboxConfig::default())).unwrap();
    tool.with_queries(QueryModels::new(Arc::clone(root) as _), QueryConfig::default()).unwrap()
}

async fn call(sandbox: &ToolSandbox, tool: &str, arguments: Value) -> ToolResult {
    sandbox.execute(ToolCall::from_json("c", tool, arguments)).await.unwrap()
}

fn json_of(result: &ToolResult) -> Value {
    match &result.outcome.as_ref().unwrap_or_else(|error| panic!("{error:?}")).content[0] {
        Content::Json { json } => json.clone(),
        other => panic!("{other:?}"),
    }
}

fn query(prompt: &str) -> Value {
    json!({"op": "recursive_query", "prompt": prompt})
}

#[tokio::test]
async fn without_a_model_every_query_is_refused_and_the_next_one_with_a_model_works() {
    here!();
    let bare =
        over(SandboxTool::new(crate::backend::of(SandboxConfig::default())).unwrap(), &["sandbox"]);
    for _ in 0..12 {
        let error = call(&bare, "sandbox", query("?")).await.outcome.unwrap_err();
        assert_eq!(error.kind, ErrorKind::BackendUnavailable);
        assert!(error.message.contains("no model is configured"), "{}", error.message);
    }
    let sandbox = over(asking(&Program::script([&*python("FINAL(1)")])), &["sandbox"]);
    assert_eq!(json_of(&call(&sandbox, "sandbox", query("?")).await)["answer"], 1);
}

#[tokio::test]
async fn a_query_answers_about_a_context_and_status_shows_what_it_took() {
    here!();
    let root = Program::new("root", |number, _: &str| match number {
        0 => python("n = len(context['list'])\nllm_query('x')"),
        _ => python("FINAL_VAR('n')"),
    });
    let sandbox = over(asking(&root), &["sandbox", "rlm_query"]);
    let made = json_of(&call(&sandbox, "sandbox", json!({"op": "session_create"})).await);
    let id = &made["session_id"];
    let mut asked = query("How many?");
    asked["context"] = json!({"list": [1, 2, 3]});
    asked["session_id"] = id.clone();
    let answer = json_of(&call(&sandbox, "sandbox", asked.clone()).await);
    assert_eq!(
        [&answer["answer"], &answer["stop"], &answer["success"]],
        [&json!(3), &json!("final_var"), &json!(true)]
    );
    assert_eq!(
        [&answer["turns"], &answer["sub_calls"], &answer["session_id"]],
        [&json!(2), &json!(1), id]
    );
    let status = json!({"op": "session_status", "session_id": id});
    let used = &json_of(&call(&sandbox, "sandbox", status).await)["queries"];
    assert_eq!(
        [&used["queries"], &used["input_tokens"], &used["sub_calls"]],
        [&json!(1), &json!(30), &json!(1)]
    );
    assert_eq!(
        [&used["left"]["tokens"], &used["left"]["sub_calls"], &used["left"]["cost_micros"]],
        [&json!(999_955), &json!(9_999), &Value::Null],
        "{used}"
    );
    let kept = json!({"op": "execute_code", "code": "n", "session_id": id});
    assert_eq!(json_of(&call(&sandbox, "sandbox", kept).await)["value"], "3");
    let single = json!({"prompt": "?", "context": "text", "budget": {"iterations": 1}});
    let answer = json_of(&call(&sandbox, "rlm_query", single).await);
    assert!(answer["session_id"].is_null() && answer["success"] == false, "{answer}");
}

#[tokio::test]
async fn what_does_not_fit_is_refused() {
    here!();
    let sandbox = over(asking(&Program::script(["FINAL(1)"])), &["sandbox.recursive_query"]);
    for (key, value) in [
        ("context", json!(5)),
        ("budget", json!({"tokens": 0})),
        ("budget", json!({"money": 1})),
        ("prompt", json!("")),
        ("code", json!("1")),
    ] {
        let mut asked = query("?");
        asked[key] = value;
        let result = call(&sandbox, "sandbox", asked).await;
        assert_eq!(result.error_kind(), Some(ErrorKind::InvalidArguments), "{key}");
    }
    let mut asked = query("?");
    asked["session_id"] = json!("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert_eq!(
        call(&sandbox, "sandbox", asked).await.error_kind(),
        Some(ErrorKind::ExecutionFailed)
    );
    let code = json!({"op": "execute_code", "code": "1"});
    assert_eq!(call(&sandbox, "sandbox", code).await.error_kind(), Some(ErrorKind::Unauthorized));
}

#[tokio::test]
async fn a_long_answer_is_cut_and_says_so() {
    here!();
    let sandbox =
        over(asking(&Program::script([&*python("FINAL('\"é' * 200_000)")])), &["sandbox"]);
    let answer = json_of(&call(&sandbox, "sandbox", query("?")).await);
    assert_eq!((&answer["truncated"], &answer["success"]), (&json!(true), &json!(true)));
    assert!(answer["answer"].as_str().unwrap().contains("left out"));
}

#[tokio::test]
async fn a_cancelled_call_ends_its_query_within_a_second() {
    here!();
    let cancel = CancellationToken::new();
    let root = Program::script([&*python("import time; time.sleep(25)")]);
    let sandbox = over(asking(&root), &["sandbox"]).with_cancellation(cancel.clone());
    let stop = async {
        tokio::time::sleep(Duration::from_millis(1000)).await;
        cancel.cancel();
        std::time::Instant::now()
    };
    let (result, since) = tokio::join!(call(&sandbox, "sandbox", query("?")), stop);
    assert_eq!(result.error_kind(), Some(ErrorKind::Cancelled));
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
}

#[derive(Debug, Default)]
struct Seen(Mutex<Vec<String>>);

impl ProgressSink for Seen {
    fn progress(&self, _call: &CallId, progress: Progress<'_>) {
        if let Progress::Output { text, .. } = progress {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }
}

#[tokio::test]
async fn its_steps_are_seen_while_it_runs() {
    here!();
    let root = Program::new("root", |_, last: &str| match last {
        "below" => "yes".to_owned(),
        _ if last.contains("deep") => python("FINAL(1)"),
        _ if last.contains("oops") => {
            python("import os\nr = llm_query_batched(['below'] * 3)\nFINAL(rlm_query('deep'))")
        }
        _ => python("\nraise ValueError('oops')"),
    });
    let seen = Arc::new(Seen::default());
    let sandbox = over(asking(&root), &["sandbox"]).with_progress(Arc::clone(&seen) as _);
    let answer = json_of(&call(&sandbox, "sandbox", query("?")).await);
    assert_eq!(answer["answer"], 1);
    let lines = seen.0.lock().unwrap().clone();
    let begins = [
        "turn 1: failed: raise ValueError('oops') (",
        "  turn 1: FINAL(1) (",
        "  ended (final): 1 turns, 0 sub-calls, ",
        "turn 2: import os (",
        "ended (final): 2 turns, 4 sub-calls, ",
    ];
    assert_eq!(lines.len(), begins.len(), "{lines:?}");
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(begin) && line.ends_with('\n'), "{line:?} {begin:?}");
    }
    assert!(lines[3].contains(", 3 sub-calls"), "{lines:?}");
}

#[tokio::test]
async fn no_more_steps_are_shown_than_a_result_may_have() {
    here!();
    let root = Program::new("root", |number, _: &str| match number {
        0..20 => python(&format!("print('{}')", "x".repeat(200))),
        _ => python("FINAL(1)"),
    });
    let mut registry = ToolRegistry::new();
    registry.register(Arc::new(asking(&root))).unwrap();
    let scope = registry.scope(["sandbox"]).unwrap();
    let limits = Limits::default().with_max_output(ByteCount(1024)).unwrap();
    let seen = Arc::new(Seen::default());
    let sandbox = ToolSandbox::new(Arc::new(registry), scope, limits);
    let sandbox = sandbox.with_progress(Arc::clone(&seen) as _);
    call(&sandbox, "sandbox", query("?")).await.outcome.unwrap();
    let shown = seen.0.lock().unwrap().concat();
    assert!(shown.len() < 1024 + 100 && shown.contains("more is not shown"), "{shown}");
}
