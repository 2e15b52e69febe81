//! What the providers send, to the letter.

use model::{ChatReply, ChatRequest, Dialect, FinishReason, Message, ModelError, Sampling};
use serde_json::{Value, json};
use testkit::{ModelServer, Step};
use tool_core::{ToolCall, ToolSpec};

use crate::support::{ask, completion, options, provider, question};

/// The body that a provider sends for a request.
async fn sent(dialect: Dialect, stream: bool, request: &ChatRequest) -> Value {
    let server = ModelServer::start([Step::error(400, "seen")]).unwrap();
    let error = ask(provider(dialect, options(&server, stream)).as_ref(), request).await.0;
    assert!(matches!(error, Err(ModelError::Status { status: 400, .. })), "{error:?}");
    server.requests()[0].json()
}

fn reply(text: &str, calls: Vec<ToolCall>) -> Message {
    Message::Assistant(ChatReply {
        text: text.to_owned(),
        reasoning: Some("not for the wire".to_owned()),
        calls,
        finish: FinishReason::ToolCalls,
        usage: None,
        opaque: None,
    })
}

fn result(call_id: &str, content: &str, is_error: bool) -> Message {
    Message::Tool {
        call_id: call_id.to_owned(),
        name: "list".to_owned(),
        content: content.to_owned(),
        is_error,
    }
}

/// A conversation with everything that is hard: double, empty and odd ids, names of no tool,
/// malformed arguments, a tool that can't travel.
fn hard_conversation() -> ChatRequest {
    let mut request = question();
    let pick = json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    request.tools.push(ToolSpec::new("pick", "Picks.", pick).unwrap());
    request.sampling = Sampling { temperature: Some(0.5), seed: Some(7), max_tokens: Some(100) };
    let calls = vec![
        ToolCall::from_text("c1", "file.read", "{\"path\":  \"a.txt\"}"),
        ToolCall::from_text("c1", "list", ""),
        ToolCall::from_text("", "functions.list files", "{\"path\": "),
        ToolCall::from_json("odd id:1", "list", json!({"path": "."})),
    ];
    request.messages.push(reply("I look.", calls));
    request.messages.extend([
        result("c1", "hello", false),
        result("c1", "", false),
        result("", "no such tool", true),
        result("odd id:1", "", true),
    ]);
    request.messages.push(reply("It says hello.", Vec::new()));
    request.messages.push(Message::User("Thanks.".to_owned()));
    request
}

#[tokio::test]
async fn openai_requests() {
    let whole = sent(Dialect::OpenAi, false, &hard_conversation()).await;
    insta::assert_snapshot!("openai", serde_json::to_string_pretty(&whole).unwrap());
    let stream = sent(Dialect::OpenAi, true, &question()).await;
    assert_eq!(stream["stream"], true);
    assert_eq!(stream["stream_options"], json!({"include_usage": true}));
}

#[tokio::test]
async fn anthropic_requests() {
    let whole = sent(Dialect::Anthropic, false, &hard_conversation()).await;
    insta::assert_snapshot!("anthropic", serde_json::to_string_pretty(&whole).unwrap());
    let stream = sent(Dialect::Anthropic, true, &question()).await;
    assert_eq!((&stream["stream"], &stream["max_tokens"]), (&json!(true), &json!(4096)));
}

#[tokio::test]
async fn reasoning_and_signatures_go_back_beside_calls() {
    let signature = json!({"google": {"thought_signature": "c2ln"}});
    let message = json!({"content": "", "reasoning_content": "Look.", "tool_calls": [
        {"id": "a", "function": {"name": "list", "arguments": "{}"}, "extra_content": signature},
        {"id": "b", "function": {"name": "list", "arguments": "{}"}},
    ]});
    let steps = [Step::json(&completion(message, "tool_calls")), Step::error(400, "seen")];
    let server = ModelServer::start(steps).unwrap();
    let model = provider(Dialect::OpenAi, options(&server, false));
    let mut request = question();
    let reply = ask(model.as_ref(), &request).await.0.unwrap();
    request.messages.push(Message::Assistant(reply));
    request.messages.extend([result("a", "x", false), result("b", "y", false)]);
    assert!(ask(model.as_ref(), &request).await.0.is_err());
    let sent = &server.requests()[1].json()["messages"][2];
    assert_eq!(sent["reasoning_content"], "Look.");
    assert_eq!(sent["tool_calls"][0]["extra_content"], signature);
    assert_eq!(sent["tool_calls"][1].get("extra_content"), None);
}

#[tokio::test]
async fn a_conversation_out_of_step_reaches_nobody() {
    let server = ModelServer::start([]).unwrap();
    let mut request = question();
    request.messages.push(reply("", vec![ToolCall::from_text("a", "list", "{}")]));
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let model = provider(dialect, options(&server, false));
        let error = ask(model.as_ref(), &request).await.0.unwrap_err();
        assert!(matches!(error, ModelError::Request(_)), "{error:?}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_tool_that_can_not_travel_is_named() {
    let server = ModelServer::start([]).unwrap();
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let model = provider(dialect, options(&server, false));
        let left_out = model.left_out(&hard_conversation().tools);
        assert_eq!(left_out.len(), 1);
        assert_eq!(left_out[0].name, "pick");
        assert!(left_out[0].reason.contains("oneOf"), "{}", left_out[0].reason);
    }
}
