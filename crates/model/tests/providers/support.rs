//! Requests, providers and servers that the tests share.

use std::{sync::Mutex, time::Duration};

use model::{
    AnthropicMessages, ApiKey, ChatReply, ChatRequest, Delta, Dialect, HttpOptions, Message, Model,
    ModelError, OpenAiChat, Sampling,
};
use serde_json::{Value, json};
use testkit::{ModelServer, Step};
use tool_core::{ToolCall, ToolSpec};

/// The key that no error, log line or debug text may hold.
pub(crate) const KEY: &str = "sk-test-Zm9v0123456789QUJDREVG";

/// Options that fail quickly.
pub(crate) fn options(server: &ModelServer, stream: bool) -> HttpOptions {
    let mut options = HttpOptions::new(server.url(), "test-model");
    options.key = Some(ApiKey::new(KEY).unwrap());
    options.stream = stream;
    options.max_retries = 2;
    options.first_pause = Duration::from_millis(5);
    options.idle_timeout = Duration::from_secs(5);
    options.timeout = Duration::from_secs(20);
    options
}

pub(crate) fn provider(dialect: Dialect, options: HttpOptions) -> Box<dyn Model> {
    match dialect {
        Dialect::OpenAi => Box::new(OpenAiChat::new(options).unwrap()),
        Dialect::Anthropic => Box::new(AnthropicMessages::new(options).unwrap()),
    }
}

/// A question with two tools on offer, one of them under a dotted name.
pub(crate) fn question() -> ChatRequest {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    ChatRequest {
        messages: vec![Message::System("Be short.".into()), Message::User("Read a.txt.".into())],
        tools: vec![
            ToolSpec::new("file.read", "Reads a file.", schema.clone()).unwrap(),
            ToolSpec::new("list", "Lists files.", schema).unwrap(),
        ],
        sampling: Sampling::default(),
    }
}

/// What a provider answers to `request`, and what it told on the way.
pub(crate) async fn ask(
    model: &dyn Model,
    request: &ChatRequest,
) -> (Result<ChatReply, ModelError>, Vec<Delta>) {
    let deltas = Mutex::new(Vec::new());
    let reply = model.chat(request, &|delta| deltas.lock().unwrap().push(delta)).await;
    (reply, deltas.into_inner().unwrap())
}

/// The reply of a provider to a server of one step.
pub(crate) async fn reply_to(
    dialect: Dialect,
    stream: bool,
    step: Step,
) -> (Result<ChatReply, ModelError>, Vec<Delta>) {
    let server = ModelServer::start([step]).unwrap();
    let mut options = options(&server, stream);
    options.max_retries = 0;
    ask(provider(dialect, options).as_ref(), &question()).await
}

/// The calls as (id, name, arguments).
pub(crate) fn calls(reply: &ChatReply) -> Vec<(String, String, String)> {
    let texts = |call: &ToolCall| {
        (call.id.to_string(), call.name.clone(), call.arguments.to_text().into_owned())
    };
    reply.calls.iter().map(texts).collect()
}

/// The same from literals.
pub(crate) fn triples(expected: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    expected.iter().map(|(a, b, c)| (a.to_string(), b.to_string(), c.to_string())).collect()
}

/// A chat completion with this message.
pub(crate) fn completion(message: Value, finish_reason: &str) -> Value {
    json!({
        "id": "x", "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    })
}

/// A chunk with this delta.
pub(crate) fn chunk(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

/// The chunk that ends a choice.
pub(crate) fn end(finish_reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]})
}

/// The chunk with the counts.
pub(crate) fn counts() -> Value {
    json!({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}})
}

/// An OpenAI reply that says `text`.
pub(crate) fn says(text: &str) -> Step {
    Step::json(&completion(json!({"role": "assistant", "content": text}), "stop"))
}
