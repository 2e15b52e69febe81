//! Chat completions in pieces.

use model::{Delta, Dialect, FinishReason, ModelError, Usage};
use serde_json::{Value, json};
use testkit::Step;

use crate::support::{calls, chunk, completion, counts, end, reply_to, triples};

fn call(index: u64, id: &str, name: &str, arguments: &str) -> Value {
    let function = json!({"name": name, "arguments": arguments});
    json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})
}

fn more(index: u64, arguments: &str) -> Value {
    json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})
}

fn whole_reply() -> Vec<Value> {
    vec![
        chunk(json!({"role": "assistant", "content": ""})),
        chunk(json!({"reasoning_content": "Two "})),
        chunk(json!({"reasoning_content": "files."})),
        chunk(json!({"content": "I read "})),
        chunk(json!({"content": "both: ä🦀."})),
        chunk(call(0, "c1", "file_read", "")),
        chunk(more(0, "{\"path\":")),
        chunk(call(1, "c1", "list", "{\"path\"")),
        chunk(more(0, " \"a\"}")),
        chunk(more(1, ": \"b\"}")),
        end("tool_calls"),
        counts(),
    ]
}

#[tokio::test]
async fn however_the_bytes_are_cut_the_reply_is_the_same() {
    for size in [1, 3, 64, 100_000] {
        let step = Step::openai_stream(&whole_reply()).in_pieces_of(size);
        let (reply, deltas) = reply_to(Dialect::OpenAi, true, step).await;
        let reply = reply.unwrap();
        assert_eq!(reply.text, "I read both: ä🦀.");
        assert_eq!(reply.reasoning.as_deref(), Some("Two files."));
        assert_eq!(
            calls(&reply),
            triples(&[
                ("c1", "file.read", "{\"path\": \"a\"}"),
                ("c1", "list", "{\"path\": \"b\"}")
            ])
        );
        assert_eq!(reply.finish, FinishReason::ToolCalls);
        assert_eq!(reply.usage, Some(Usage { input_tokens: 11, output_tokens: 7 }));
        assert_eq!(
            deltas,
            [
                Delta::Reasoning("Two ".into()),
                Delta::Reasoning("files.".into()),
                Delta::Text("I read ".into()),
                Delta::Text("both: ä🦀.".into()),
                Delta::CallStarted { index: 0, name: "file.read".into() },
                Delta::CallStarted { index: 1, name: "list".into() },
            ],
            "{size}"
        );
    }
}

#[tokio::test]
async fn every_way_to_write_events_is_read() {
    let hello = chunk(json!({"content": "hello"}));
    let text = hello.to_string();
    // JSON allows a line break after a comma.
    let (first, second) = text.split_at(text.find(',').unwrap() + 1);
    for text in [
        format!(
            "data: {hello}\r\n\r\n: ping\r\n\r\ndata: {}\r\n\r\ndata: [DONE]\r\n\r\n",
            end("stop")
        ),
        format!("data:{hello}\n\ndata:{}\n\ndata:[DONE]\n", end("stop")),
        format!("event: chunk\nid: 1\ndata: {hello}\n\ndata: {}\n\n", end("stop")),
        format!("data: {first}\ndata: {second}\n\ndata: {}\n\ndata: [DONE]\n\n", end("stop")),
    ] {
        let (reply, _) = reply_to(Dialect::OpenAi, true, Step::events(text.clone())).await;
        assert_eq!(reply.unwrap_or_else(|e| panic!("{text}: {e}")).text, "hello");
    }
}

#[tokio::test]
async fn half_a_reply_is_never_taken_for_one() {
    let chunks = whole_reply();
    let text: String = chunks.iter().take(9).map(|chunk| format!("data: {chunk}\n\n")).collect();
    let ended = reply_to(Dialect::OpenAi, true, Step::events(text.clone())).await.0.unwrap_err();
    assert!(matches!(ended, ModelError::Protocol { .. }), "{ended:?}");
    for step in [Step::events(text.clone()), Step::events(text[..text.len() - 9].to_owned())] {
        let cut = reply_to(Dialect::OpenAi, true, step.cut()).await.0.unwrap_err();
        assert!(matches!(cut, ModelError::Transport { .. }), "{cut:?}");
    }
    let body = completion(json!({"content": "whole?"}), "stop").to_string();
    let step = Step::body("application/json", body).cut();
    let cut = reply_to(Dialect::OpenAi, false, step).await.0.unwrap_err();
    assert!(matches!(cut, ModelError::Transport { .. }), "{cut:?}");
    let empty = reply_to(Dialect::OpenAi, true, Step::events("data: [DONE]\n\n")).await.0;
    assert!(matches!(empty, Err(ModelError::Protocol { .. })), "{empty:?}");
}

#[tokio::test]
async fn an_error_in_mid_stream_is_an_error() {
    let check = async |error: Value, status: Option<u16>| {
        let chunks = [chunk(json!({"content": "hel"})), json!({"error": error})];
        let (reply, deltas) = reply_to(Dialect::OpenAi, true, Step::openai_stream(&chunks)).await;
        assert_eq!(deltas, [Delta::Text("hel".into())]);
        match (reply.unwrap_err(), status) {
            (ModelError::Status { status, message, .. }, Some(expected)) => {
                assert_eq!((status, message.as_str()), (expected, "down"));
            }
            (ModelError::Protocol { message, .. }, None) => assert!(message.contains("down")),
            (error, _) => panic!("{error:?}"),
        }
    };
    check(json!({"message": "down", "type": "server_error"}), Some(500)).await;
    check(json!({"message": "down", "code": 503}), Some(503)).await;
    check(json!("down"), None).await;
    let garbage = Step::events("data: {\"choices\": [}\n\n");
    let error = reply_to(Dialect::OpenAi, true, garbage).await.0.unwrap_err();
    assert!(matches!(error, ModelError::Protocol { .. }), "{error:?}");
}

#[tokio::test]
async fn a_stream_without_counts_or_with_a_truncated_call() {
    let chunks = [chunk(call(0, "c1", "list", "{\"path\": \"lo")), end("tool_calls")];
    let reply = reply_to(Dialect::OpenAi, true, Step::openai_stream(&chunks)).await.0.unwrap();
    assert_eq!((reply.usage, reply.finish), (None, FinishReason::Length));
}

#[tokio::test]
async fn a_server_that_streams_unasked_or_not_at_all_is_understood() {
    let whole = Step::json(&completion(json!({"content": "hello"}), "stop"));
    assert_eq!(reply_to(Dialect::OpenAi, true, whole).await.0.unwrap().text, "hello");
    let stream = Step::openai_stream(&[chunk(json!({"content": "hello"})), end("stop")]);
    assert_eq!(reply_to(Dialect::OpenAi, false, stream).await.0.unwrap().text, "hello");
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    let line = format!("data: {}", "x".repeat(1024 * 1024));
    let step = Step::events(line.repeat(9)).in_pieces_of(256 * 1024);
    let error = reply_to(Dialect::OpenAi, true, step).await.0.unwrap_err();
    assert!(error.to_string().contains("longer than 8388608 bytes"), "{error}");
    let step = Step::body("application/json", vec![b' '; 9 * 1024 * 1024]);
    let error = reply_to(Dialect::OpenAi, false, step).await.0.unwrap_err();
    assert!(error.to_string().contains("longer than 8388608 bytes"), "{error}");
}
