//! The pipeline from outside: every call is answered, and nothing runs that may not.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod approval;
mod executors;
mod red_team;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use executors::{Bench, any_object};
use sandbox::{PoolConfig, SandboxedToolProvider, ToolSandbox};
use tokio_util::sync::CancellationToken;
use tool_core::{
    ByteCount, ErrorKind, Limits, OutputPolicy, ToolCall, ToolError, ToolOutput, ToolRegistry,
    ToolResultProvider, ToolSpec,
};

fn quick(ms: u64) -> Limits {
    Limits::default().with_timeout(Duration::from_millis(ms)).unwrap()
}

async fn until(is_reached: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !is_reached() {
        assert!(Instant::now() < end, "the state was not reached in time");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn unlisted_tool_name_is_hard_refused_never_attempted() {
    let bench = Bench::new().echo("read_file").build(&["read_file"]);
    for name in ["delete_file", "Read_File", "read_file ", "read", "mcp__x__read_file", "", "*"] {
        let call = ToolCall::from_text("c1", name, r#"{"path": "a"}"#);
        let result = bench.sandbox.execute(call).await.unwrap();
        assert_eq!(result.error_kind(), Some(ErrorKind::UnknownTool), "{name}");
        assert_eq!((result.call_id.as_str(), result.tool.as_str()), ("c1", name));
    }
    assert_eq!(bench.entered(), 0);
}

#[tokio::test]
async fn unauthorized_but_declared_tool_is_refused_at_execution_not_declaration() {
    let bench = Bench::new().echo("read_file").echo("send_mail").build(&["read_file"]);
    let result = bench.line(r#"{"id": "c1", "name": "send_mail", "arguments": {}}"#).await;
    assert_eq!(result.error_kind(), Some(ErrorKind::Unauthorized));
    assert_eq!(bench.entered(), 0);
    // It is not offered either, and what is authorized runs.
    let offered: Vec<_> = bench.sandbox.offered().iter().map(|s| s.name().to_string()).collect();
    assert_eq!(offered, ["read_file"]);
    assert!(bench.line(r#"{"id": "c2", "name": "read_file", "arguments": {}}"#).await.is_ok());
    assert_eq!(bench.entered(), 1);
}

#[tokio::test]
async fn execution_timeout_kills_a_hanging_tool_call() {
    let bench =
        Bench::new().hanging("hang").forever("wait").limits(quick(60)).build(&["hang", "wait"]);
    for (name, abandoned) in [("hang", 1), ("wait", 1), ("hang", 2)] {
        let started = Instant::now();
        let call = ToolCall::from_text("c1", name, "{}");
        let result = bench.sandbox.execute(call).await.unwrap();
        assert_eq!(result.error_kind(), Some(ErrorKind::TimedOut), "{name}");
        let details = result.outcome.unwrap_err().details.unwrap();
        assert_eq!(details, serde_json::json!({"timeout_ms": 60, "set_by": "operator"}));
        assert!(started.elapsed() >= Duration::from_millis(60));
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        assert_eq!(bench.pool.status().abandoned, abandoned);
    }
}

#[tokio::test]
async fn execution_respects_configured_memory_and_cpu_ceiling() {
    // Bytes: what is over the ceiling is refused or cut, by the tool's own policy.
    let limits = quick(80).with_max_output(ByteCount(1000)).unwrap();
    let stopped = Arc::new(AtomicUsize::new(0));
    let bench = Bench::new()
        .flooding("structured", 1001, OutputPolicy::Refuse)
        .flooding("stream", 5000, OutputPolicy::Truncate)
        .flooding("exact", 1000, OutputPolicy::Refuse)
        .obedient("spin", Arc::clone(&stopped))
        .limits(limits)
        .build(&["structured", "stream", "exact", "spin"]);
    let call = |name| ToolCall::from_text("c1", name, "{}");
    let refused = bench.sandbox.execute(call("structured")).await.unwrap();
    assert_eq!(refused.error_kind(), Some(ErrorKind::OutputTooLarge));
    let cut = bench.sandbox.execute(call("stream")).await.unwrap().outcome.unwrap();
    assert_eq!(cut.len_bytes(), ByteCount(1000));
    assert_eq!(cut.truncated.unwrap().omitted_bytes, ByteCount(4000));
    let whole = bench.sandbox.execute(call("exact")).await.unwrap().outcome.unwrap();
    assert_eq!((whole.len_bytes(), whole.truncated), (ByteCount(1000), None));

    // Time: one that listens stops working at the deadline, and gives its thread back.
    let result = bench.sandbox.execute(call("spin")).await.unwrap();
    assert_eq!(result.error_kind(), Some(ErrorKind::TimedOut));
    until(|| stopped.load(Ordering::SeqCst) == 1 && bench.pool.status().abandoned == 0).await;
}

#[tokio::test]
async fn malformed_tool_call_json_is_never_executed() {
    let bench = Bench::new().echo("read_file").build(&["read_file"]);
    let malformed = [
        "not json",
        "",
        "[]",
        "5",
        r#"{"id": "c1", "name": "read_file", "arguments": {"path": "a"}"#,
        r#"{"id": "c1", "name": "read_file", "arguments": {"path": "a"}} {}"#,
        r#"{"id": "c1", "arguments": {}}"#,
        r#"{"id": "c1", "name": "read_file", "name": "read_file"}"#,
        r#"{"id": "c1", "name": ["read_file"]}"#,
    ];
    for line in malformed {
        let result = bench.line(line).await;
        assert_eq!(result.error_kind(), Some(ErrorKind::MalformedCall), "{line}");
        let had_id = line.contains("c1");
        assert_eq!(result.call_id.as_str(), if had_id { "c1" } else { "" }, "{line}");
    }
    let invalid = [r#"{\"a\":"#, r#"{'a': 1}"#, r#"{\"a\": 1,}"#, r#"{\"a\": NaN}"#, "[1]", "5"];
    for arguments in invalid {
        let line = format!(
            r#"{{"id": "c2", "function": {{"name": "read_file", "arguments": "{arguments}"}}}}"#
        );
        let result = bench.line(&line).await;
        assert_eq!(result.error_kind(), Some(ErrorKind::InvalidArguments), "{line}");
    }
    assert_eq!(bench.entered(), 0);
}

#[tokio::test]
async fn fifty_calls_that_ignore_cancellation_leave_bounded_threads() {
    let config = PoolConfig { threads: 4, max_abandoned: 6, max_queued: 100 };
    let bench = Bench::with_pool(config).hanging("hang").echo("fine").limits(quick(20));
    let bench = bench.build(&["hang", "fine"]);
    let mut kinds = Vec::new();
    for _ in 0..50 {
        let call = ToolCall::from_text("c", "hang", "{}");
        kinds.push(bench.sandbox.execute(call).await.unwrap().error_kind().unwrap());
    }
    assert_eq!(kinds[..6], [ErrorKind::TimedOut; 6]);
    assert_eq!(kinds[6..], [ErrorKind::LimitExceeded; 44]);
    assert_eq!(bench.pool.status().abandoned, 6);
    let refused = bench.sandbox.execute(ToolCall::from_text("c", "fine", "{}")).await.unwrap();
    assert!(refused.for_model().contains("abandoned_threads"), "{}", refused.for_model());

    let (pool, sandbox) = (bench.pool.clone(), &bench.sandbox);
    assert!(sandbox.limits().timeout() < Duration::from_secs(1));
    drop(bench);
    until(|| pool.status().abandoned == 0).await;
}

#[tokio::test]
async fn a_panic_is_a_result_and_the_sandbox_lives_on() {
    let spec = ToolSpec::new("boom", "", any_object()).unwrap();
    let bench = Bench::new().tool(spec, |_, _| panic!("at the disco")).echo("fine");
    let bench = bench.build(&["boom", "fine"]);
    for _ in 0..20 {
        let result = bench.sandbox.execute(ToolCall::from_text("c", "boom", "{}")).await.unwrap();
        assert_eq!(result.error_kind(), Some(ErrorKind::ExecutionFailed));
        assert!(result.for_model().contains("at the disco"));
    }
    assert!(bench.sandbox.execute(ToolCall::from_text("c", "fine", "{}")).await.unwrap().is_ok());
}

#[tokio::test]
async fn an_error_text_in_any_script_stays_within_four_kibibytes() {
    let spec = ToolSpec::new("fail", "", any_object()).unwrap();
    let bench = Bench::new().tool(spec, |_, _| Err(ToolError::failed("ошибка ".repeat(2000))));
    let bench = bench.build(&["fail"]);
    let result = bench.sandbox.execute(ToolCall::from_text("c", "fail", "{}")).await.unwrap();
    let text = result.outcome.unwrap_err().message;
    assert!((4000..=4096).contains(&text.len()), "{}", text.len());
}

#[tokio::test]
async fn cancelling_answers_what_runs_and_what_comes() {
    let stopped = Arc::new(AtomicUsize::new(0));
    let bench = Bench::new().obedient("spin", Arc::clone(&stopped)).forever("wait");
    let ready = bench.build(&["spin", "wait"]);
    let token = CancellationToken::new();
    let sandbox = ready.sandbox.with_cancellation(token.clone());
    let calls = ["spin", "wait"].map(|name| ToolCall::from_text("c", name, "{}"));
    let [spin, wait] = calls.clone().map(|call| sandbox.execute(call));
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        token.cancel();
    };
    let (spin, wait, ()) = tokio::join!(spin, wait, cancel);
    for result in [spin, wait, sandbox.execute(calls[1].clone()).await] {
        assert_eq!(result.unwrap().error_kind(), Some(ErrorKind::Cancelled));
    }
    until(|| stopped.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn a_reading_is_recorded_in_the_result() {
    let bench = Bench::new().echo("t").build(&["t"]);
    let cases = [
        (r#"{"id": "1", "name": "t", "arguments": "{\"a\": 1}"}"#, r#"{"a":1}"#, "decoded_string"),
        (r#"{"id": "2", "name": "t", "arguments": ""}"#, "{}", "empty_as_object"),
        (r#"{"id": "3", "name": "t", "arguments": null}"#, "{}", "empty_as_object"),
        (r#"{"id": "4", "name": "t"}"#, "{}", "empty_as_object"),
    ];
    for (line, output, reading) in cases {
        let result = bench.line(line).await;
        assert_eq!(result.for_model(), output, "{line}");
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json["reading"], reading, "{line}");
    }
    let plain = bench.line(r#"{"id": "5", "name": "t", "arguments": {}}"#).await;
    assert_eq!(serde_json::to_value(&plain).unwrap().get("reading"), None);
}

#[tokio::test]
async fn twenty_mebibytes_of_arguments_are_refused_before_parsing() {
    let bench = Bench::new().echo("t").build(&["t"]);
    // Not JSON at its very beginning: whoever parsed it would say so.
    let arguments = format!("}}{}", "x".repeat(20 << 20));
    let result = bench.sandbox.execute(ToolCall::from_text("c", "t", arguments)).await.unwrap();
    assert_eq!(result.error_kind(), Some(ErrorKind::ArgumentsTooLarge));
    assert!(bench.line(r#"{"id": "2", "name": "t", "arguments": {}}"#).await.is_ok());
}

#[tokio::test]
async fn a_declared_tool_without_an_executor_is_unavailable() {
    let mut registry = ToolRegistry::new();
    registry.declare(ToolSpec::new("ghost", "", any_object()).unwrap()).unwrap();
    let registry = Arc::new(registry);
    let scope = registry.scope(["ghost"]).unwrap();
    let sandbox = ToolSandbox::new(registry, scope, Limits::default());
    let result = sandbox.execute(ToolCall::from_text("c", "ghost", "{}")).await.unwrap();
    assert_eq!(result.error_kind(), Some(ErrorKind::BackendUnavailable));
}

#[tokio::test]
async fn a_declaration_can_narrow_a_tool_and_never_widen_it() {
    use sandbox::StaticLookup;
    use serde_json::json;
    let lookup = || Arc::new(StaticLookup::new("lookup", [("a", "1"), ("b", "2")]).unwrap());
    let sandbox = |schema| {
        let mut registry = ToolRegistry::new();
        let declared = ToolSpec::new("lookup", "declared", schema).unwrap();
        registry.register_declared(&declared, lookup()).unwrap();
        let registry = Arc::new(registry);
        let scope = registry.scope(["lookup"]).unwrap();
        ToolSandbox::new(registry, scope, Limits::default())
    };
    let narrow = json!({"type": "object", "properties": {"key": {"enum": ["a"]}}});
    let narrow = sandbox(narrow);
    assert_eq!(narrow.offered()[0].description(), "declared");
    let call = |args| ToolCall::from_text("c", "lookup", args);
    assert_eq!(narrow.execute(call(r#"{"key": "a"}"#)).await.unwrap().for_model(), "1");
    let refused = narrow.execute(call(r#"{"key": "b"}"#)).await.unwrap();
    assert_eq!(refused.error_kind(), Some(ErrorKind::InvalidArguments));
    let wide = sandbox(any_object());
    let refused = wide.execute(call(r#"{"key": 5}"#)).await.unwrap();
    assert_eq!(refused.error_kind(), Some(ErrorKind::InvalidArguments));
}

#[tokio::test]
async fn the_provider_runs_calls_side_by_side_and_keeps_their_ids() {
    let barrier = Arc::new(std::sync::Barrier::new(2));
    let spec = ToolSpec::new("meet", "", any_object()).unwrap();
    let bench = Bench::new().tool(spec, move |_, _| {
        // Returns only when a second call has come here too.
        barrier.wait();
        Ok(ToolOutput::text("met"))
    });
    let sandbox = Arc::new(bench.build(&["meet"]).sandbox);
    let provider = SandboxedToolProvider::new(sandbox, 2);
    assert_eq!(provider.concurrency(), 2);
    let call = |id| provider.next_result(ToolCall::from_text(id, "meet", "{}"));
    // The same id twice is two calls.
    let (first, second) = tokio::join!(call("same"), call("same"));
    for result in [first.unwrap(), second.unwrap()] {
        assert_eq!((result.call_id.as_str(), result.for_model().as_str()), ("same", "met"));
    }
    provider.finish().await.unwrap();
}
