//! `recursive_query` as a model calls it: through all stages, with a result in every case.

use std::{sync::Arc, time::Duration};

use rlm_backend::{QueryConfig, QueryModels, SandboxConfig, SandboxTool};
use sandbox::ToolSandbox;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tool_core::{ByteCount, Content, ErrorKind, Limits, ToolCall, ToolRegistry, ToolResult};

use crate::support::{Program, python};

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
    let tool = SandboxTool::new(SandboxConfig::default()).unwrap();
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
    let bare = over(SandboxTool::new(SandboxConfig::default()).unwrap(), &["sandbox"]);
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
    let kept = json!({"op": "execute_code", "code": "n", "session_id": id});
    assert_eq!(json_of(&call(&sandbox, "sandbox", kept).await)["value"], "3");
    let single = json!({"prompt": "?", "context": "text", "budget": {"iterations": 1}});
    let answer = json_of(&call(&sandbox, "rlm_query", single).await);
    assert!(answer["session_id"].is_null() && answer["success"] == false, "{answer}");
}

#[tokio::test]
async fn what_does_not_fit_is_refused() {
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
    let sandbox =
        over(asking(&Program::script([&*python("FINAL('\"é' * 200_000)")])), &["sandbox"]);
    let answer = json_of(&call(&sandbox, "sandbox", query("?")).await);
    assert_eq!((&answer["truncated"], &answer["success"]), (&json!(true), &json!(true)));
    assert!(answer["answer"].as_str().unwrap().contains("left out"));
}

#[tokio::test]
async fn a_cancelled_call_ends_its_query_within_a_second() {
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
