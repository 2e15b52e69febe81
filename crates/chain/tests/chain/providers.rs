//! Results from a line and from a recording.

use std::{
    io::{self, BufReader, Cursor, Read, Write},
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use chain::{LineProvider, NoObserver, ReplayProvider, StopReason, ToolChain};
use tool_core::{ToolCall, ToolResult, ToolResultProvider};

use crate::support::{Script, asks, results, run, says, task};

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Sink {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The error, or the result, of one call of `t` with the id `a` over a line with this input.
async fn over_line(input: &[u8]) -> Result<ToolResult, String> {
    let provider = LineProvider::new(Cursor::new(input.to_vec()), Sink::default()).unwrap();
    let result = provider.next_result(ToolCall::from_text("a", "t", "{}")).await;
    if result.is_err() {
        let again = provider.next_result(ToolCall::from_text("a", "t", "{}")).await.unwrap_err();
        assert!(again.to_string().contains("broken"), "{again}");
    }
    result.map_err(|error| error.to_string())
}

const RESULT: &str =
    r#"{"call_id":"a","tool":"t","status":"ok","content":[{"type":"text","text":"hi"}]}"#;

#[tokio::test]
async fn a_line_gives_the_result_of_its_call() {
    assert_eq!(over_line(RESULT.as_bytes()).await.unwrap().for_model(), "hi");
    assert!(over_line(format!("{RESULT}\r\nmore").as_bytes()).await.is_ok());
}

#[tokio::test]
async fn what_is_no_result_of_the_call_is_a_protocol_error() {
    let check = async |input: &[u8], expected: &str| {
        let error = over_line(input).await.unwrap_err();
        assert!(error.starts_with(&format!("line 1: {expected}")), "{error}");
        assert!(error.ends_with(r#"expected one JSON line with the result of call "a" ("t")"#));
    };
    check(b"", "the input ended").await;
    check(b"\n", "not JSON").await;
    check(b"yes\n", "not JSON").await;
    check(b"{\"call_id\": \"a\", \"call_id\": \"b\"}\n", "not JSON").await;
    check(b"\xff\n", "not UTF-8").await;
    check(b"{}\n", "not a result: missing field").await;
    check(RESULT.replace("\"a\"", "\"b\"").as_bytes(), "it is the result of call \"b\"").await;
    check(RESULT.replace("\"t\"", "\"u\"").as_bytes(), "it is a result of the tool \"u\"").await;
}

#[tokio::test]
async fn calls_are_written_one_a_line_and_answered_in_order() {
    let answer = |id: &str, tool: &str, text: &str| {
        RESULT
            .replace("\"a\"", &format!("{id:?}"))
            .replace("\"t\"", &format!("{tool:?}"))
            .replace("hi", text)
    };
    let input = [answer("call_1_0", "read", "one"), answer("x", "odd", "two")].join("\n");
    let sink = Sink::default();
    let provider = LineProvider::new(Cursor::new(input), sink.clone()).unwrap();
    let model = Script::new([
        asks([("", "read", r#"{"path": "a"}"#), ("x", "odd", "{broken\n")]),
        says("done"),
    ]);
    let outcome = run(&ToolChain::new(model, Arc::new(provider))).await;
    assert_eq!(results(&outcome.messages), ["one", "two"]);
    insta::assert_snapshot!(sink.text(), @r#"
    {"id":"call_1_0","name":"read","arguments":{"path":"a"}}
    {"id":"x","name":"odd","arguments":"{broken\n"}
    "#);
}

/// A reader that blocks until the other side is dropped.
struct Blocked(mpsc::Receiver<()>);

impl Read for Blocked {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        Ok(0)
    }
}

#[tokio::test]
async fn a_person_who_does_not_answer_blocks_neither_the_runtime_nor_the_end() {
    let (_hold, blocked) = mpsc::channel();
    let provider = LineProvider::new(BufReader::new(Blocked(blocked)), io::sink()).unwrap();
    let chain = ToolChain::new(Script::new([asks([("a", "t", "{}")])]), Arc::new(provider));
    let token = tokio_util::sync::CancellationToken::new();
    let cancel = async {
        // On a blocked runtime this timer would never fire.
        tokio::time::sleep(Duration::from_millis(20)).await;
        token.cancel();
    };
    let work = async { tokio::join!(chain.run(task(), &NoObserver, token.clone()), cancel).0 };
    let outcome = tokio::time::timeout(Duration::from_secs(10), work).await.unwrap().unwrap();
    assert_eq!(outcome.stop, StopReason::Cancelled);
}

/// What a chain of one call of `read` (id `a`, path `x`) makes of a recording.
async fn over_replay(recording: &str) -> Result<String, String> {
    let provider = ReplayProvider::from_jsonl(recording).map_err(|error| error.to_string())?;
    let model = Script::new([asks([("a", "read", r#"{"path": "x", "n": 1}"#)]), says("done")]);
    let outcome = run(&ToolChain::new(model, Arc::new(provider))).await;
    match outcome.stop {
        StopReason::Answer => Ok(results(&outcome.messages).join("|")),
        StopReason::ProviderError { message } => Err(message),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn recordings_answer_in_full_and_in_short() {
    let check = async |recording: &str, expected: &str| {
        assert_eq!(over_replay(recording).await.as_deref(), Ok(expected), "{recording}");
    };
    check(r#"{"result": "hi"}"#, "hi").await;
    check("\n{\"result\": \"hi\"}\n\n", "hi").await;
    check(r#"{"result": {"content": [{"type": "json", "json": [1]}]}}"#, "[1]").await;
    check(
        r#"{"result": {"error": {"kind": "timed_out", "message": "slow"}}}"#,
        "error: timed_out: slow",
    )
    .await;
    let full = RESULT.replace("\"t\"", "\"read\"");
    check(&format!("{{\"result\": {full}}}"), "hi").await;
    check(
        r#"{"expected_call": {"name": "read", "arguments": {"n": 1.0, "path": "x"}}, "result": "hi"}"#,
        "hi",
    )
    .await;
    check(r#"{"expected_call": {"name": "read"}, "result": "hi"}"#, "hi").await;
}

#[tokio::test]
async fn recordings_that_do_not_fit_are_refused_with_their_line() {
    let check = async |recording: &str, expected: &str| {
        let error = over_replay(recording).await.unwrap_err();
        assert!(error.contains(expected), "{recording}: {error}");
    };
    check(
        r#"{"expected_call": {"name": "read", "arguments": {"path": "y"}}, "result": "hi"}"#,
        r#"line 1: expected a call of "read" with {"path":"y"}, got a call of "read" with"#,
    )
    .await;
    check(
        r#"{"expected_call": {"name": "write"}, "result": "hi"}"#,
        r#"expected a call of "write""#,
    )
    .await;
    let other_id = RESULT.replace("\"t\"", "\"read\"").replace("\"a\"", "\"b\"");
    check(&format!("{{\"result\": {other_id}}}"), r#"line 1: expected the call "b""#).await;
    check(&format!("{{\"result\": {RESULT}}}"), r#"line 1: expected a call of "t""#).await;
    check("", "the recording has 0 results, and a call of \"read\"").await;
    check(
        "{\"result\": \"hi\"}\n\n{\"result\": \"more\"}",
        "line 3: this result was never asked for; 1 of 2 are left over",
    )
    .await;
    check("{\"result\": \"hi\"}\nnonsense", "line 2: ").await;
    check(r#"{"result": "hi", "reslut": 1}"#, "line 1: unknown field `reslut`").await;
    check(r#"{"result": 5}"#, "line 1: the result is 5; expected").await;
    check(r#"{"result": {"status": "ok"}}"#, "line 1: ").await;
}

#[tokio::test]
async fn left_over_results_keep_the_answer() {
    let provider = ReplayProvider::from_jsonl(r#"{"result": "hi"}"#).unwrap();
    let chain = ToolChain::new(Script::new([says("42")]), Arc::new(provider));
    let outcome = run(&chain).await;
    assert!(matches!(outcome.stop, StopReason::ProviderError { .. }));
    assert_eq!(outcome.answer.as_deref(), Some("42"));
}
