//! Messages, whole and in pieces.

use model::{ChatReply, Delta, Dialect, FinishReason, Message, ModelError, Usage};
use serde_json::{Value, json};
use testkit::{ModelServer, Step};

use crate::support::{ask, calls, options, provider, question, reply_to, triples};

fn message(content: Value, stop_reason: &str) -> Value {
    json!({
        "id": "m", "type": "message", "role": "assistant", "content": content,
        "stop_reason": stop_reason,
        "usage": {
            "input_tokens": 3, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100,
            "output_tokens": 7,
        },
    })
}

async fn read(body: &Value) -> Result<ChatReply, ModelError> {
    reply_to(Dialect::Anthropic, false, Step::json(body)).await.0
}

fn thoughtful_content() -> Value {
    json!([
        {"type": "thinking", "thinking": "Two files.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        {"type": "text", "text": "I read both."},
        {"type": "tool_use", "id": "t1", "name": "file_read", "input": {"path": "a"}},
        {"type": "tool_use", "id": "t1", "name": "list", "input": {}},
    ])
}

/// The same reply as a stream.
fn thoughtful_events() -> Vec<Value> {
    let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    let usage = json!({"input_tokens": 3, "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 100, "output_tokens": 1});
    vec![
        json!({"type": "message_start", "message": {"content": [], "usage": usage}}),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Two "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "files."})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "ZGF0YQ=="})),
        stop(1),
        start(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "I read both."})),
        stop(2),
        start(3, json!({"type": "tool_use", "id": "t1", "name": "file_read", "input": {}})),
        delta(3, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(3, json!({"type": "input_json_delta", "partial_json": "{\"path\":"})),
        delta(3, json!({"type": "input_json_delta", "partial_json": "\"a\"}"})),
        stop(3),
        start(4, json!({"type": "tool_use", "id": "t1", "name": "list", "input": {}})),
        stop(4),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]
}

fn check_thoughtful(reply: &ChatReply) {
    assert_eq!(reply.text, "I read both.");
    assert_eq!(reply.reasoning.as_deref(), Some("Two files."));
    assert_eq!(
        calls(reply),
        triples(&[("t1", "file.read", "{\"path\":\"a\"}"), ("t1", "list", "{}")])
    );
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    assert_eq!(reply.usage, Some(Usage { input_tokens: 113, output_tokens: 7 }));
}

#[tokio::test]
async fn whole_and_in_pieces_the_reply_is_the_same() {
    let whole = read(&message(thoughtful_content(), "tool_use")).await.unwrap();
    check_thoughtful(&whole);
    for size in [1, 7, 100_000] {
        let step = Step::anthropic_stream(&thoughtful_events()).in_pieces_of(size);
        let (reply, deltas) = reply_to(Dialect::Anthropic, true, step).await;
        let reply = reply.unwrap();
        check_thoughtful(&reply);
        assert_eq!(reply.opaque, whole.opaque);
        assert_eq!(
            deltas,
            [
                Delta::Reasoning("Two ".into()),
                Delta::Reasoning("files.".into()),
                Delta::Text("I read both.".into()),
                Delta::CallStarted { index: 0, name: "file.read".into() },
                Delta::CallStarted { index: 1, name: "list".into() },
            ]
        );
    }
}

#[tokio::test]
async fn thinking_goes_back_as_it_came_and_every_call_has_one_result() {
    let server = ModelServer::start([
        Step::json(&message(thoughtful_content(), "tool_use")),
        Step::json(&message(json!([{"type": "text", "text": "done"}]), "end_turn")),
    ])
    .unwrap();
    let model = provider(Dialect::Anthropic, options(&server, false));
    let mut request = question();
    let reply = ask(model.as_ref(), &request).await.0.unwrap();
    let result = |content: &str, is_error| Message::Tool {
        call_id: "t1".into(),
        name: "list".into(),
        content: content.into(),
        is_error,
    };
    request.messages.push(Message::Assistant(reply));
    request.messages.extend([result("hello", false), result("no such folder", true)]);
    request.messages.push(Message::User("Go on.".into()));
    let last = ask(model.as_ref(), &request).await.0.unwrap();
    assert_eq!((last.text.as_str(), last.finish), ("done", FinishReason::Stop));

    let mut expected = thoughtful_content();
    // The second call needs an id of its own on the wire.
    expected[4]["id"] = json!("call_1");
    let sent = server.requests()[1].json();
    assert_eq!(sent["messages"].as_array().unwrap().len(), 3);
    assert_eq!(sent["messages"][1], json!({"role": "assistant", "content": expected}));
    assert_eq!(
        sent["messages"][2],
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "hello"},
            {"type": "tool_result", "tool_use_id": "call_1", "content": "no such folder",
             "is_error": true},
            {"type": "text", "text": "Go on."},
        ]})
    );
}

#[tokio::test]
async fn reasons_to_stop_are_mapped() {
    for (said, expected) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("tool_use", FinishReason::ToolCalls),
        ("max_tokens", FinishReason::Length),
        ("refusal", FinishReason::ContentFilter),
        ("pause_turn", FinishReason::Other("pause_turn".into())),
    ] {
        let reply = read(&message(json!([{"type": "text", "text": "x"}]), said)).await.unwrap();
        assert_eq!(reply.finish, expected);
    }
}

#[tokio::test]
async fn a_call_cut_off_at_the_ceiling_is_not_taken_as_whole() {
    let events = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 1, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "t", "name": "list", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": "{\"path\": \"lo"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 4096}}),
        json!({"type": "message_stop"}),
    ];
    let step = Step::anthropic_stream(&events);
    let reply = reply_to(Dialect::Anthropic, true, step).await.0.unwrap();
    assert_eq!(reply.finish, FinishReason::Length);
    assert_eq!(calls(&reply), triples(&[("t", "list", "{\"path\": \"lo")]));
}

#[tokio::test]
async fn half_a_message_is_never_taken_for_one() {
    let events = thoughtful_events();
    let ended = Step::anthropic_stream(&events[..events.len() - 1]);
    let error = reply_to(Dialect::Anthropic, true, ended).await.0.unwrap_err();
    assert!(matches!(error, ModelError::Protocol { .. }), "{error:?}");
    let cut = Step::anthropic_stream(&events[..8]).cut();
    let error = reply_to(Dialect::Anthropic, true, cut).await.0.unwrap_err();
    assert!(matches!(error, ModelError::Transport { .. }), "{error:?}");
}

#[tokio::test]
async fn what_is_no_message_is_an_error_that_says_why() {
    let delta = json!({"type": "content_block_delta", "index": 3, "delta": {"text": "x"}});
    for (events, expected) in [
        (vec![delta], "before the block"),
        (vec![json!({"type": "content_block_start", "index": 0})], "without a block"),
        (vec![json!({"no": "type"})], "missing field `type`"),
    ] {
        let step = Step::anthropic_stream(&events);
        let error = reply_to(Dialect::Anthropic, true, step).await.0.unwrap_err();
        assert!(matches!(error, ModelError::Protocol { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let error = read(&json!({"type": "message"})).await.unwrap_err();
    assert!(error.to_string().contains("no content"), "{error}");
}

#[tokio::test]
async fn an_overloaded_server_is_asked_again_only_while_nothing_was_heard() {
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let whole = Step::anthropic_stream(&thoughtful_events());
    let steps = [
        Step::json(&overloaded).status(529),
        Step::anthropic_stream(std::slice::from_ref(&overloaded)),
        whole.clone(),
    ];
    let server = ModelServer::start(steps).unwrap();
    let model = provider(Dialect::Anthropic, options(&server, true));
    check_thoughtful(&ask(model.as_ref(), &question()).await.0.unwrap());
    assert_eq!(server.requests().len(), 3);

    let mut broken = thoughtful_events();
    broken.truncate(11);
    broken.push(overloaded);
    let server = ModelServer::start([Step::anthropic_stream(&broken), whole]).unwrap();
    let model = provider(Dialect::Anthropic, options(&server, true));
    let error = ask(model.as_ref(), &question()).await.0.unwrap_err();
    assert!(matches!(error, ModelError::Status { status: 529, .. }), "{error:?}");
    assert_eq!(server.requests().len(), 1);
}
