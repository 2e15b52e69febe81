//! What the chain's conversation is on the wire: over real providers, to a local server.

use std::{collections::HashSet, sync::Arc};

use chain::{StopReason, ToolChain};
use model::{AnthropicMessages, HttpOptions, Model, OpenAiChat, Sampling};
use serde_json::{Value, json};
use testkit::{ModelServer, Step};

use crate::support::{Answers, run};

/// Two calls with the same id, of which the second was cut off at the limit of 100 tokens.
fn openai_reply() -> Step {
    let call = |arguments: &str| json!({"id": "same", "type": "function", "function": {"name": "read", "arguments": arguments}});
    let message = json!({
        "role": "assistant",
        "content": null,
        "tool_calls": [call(r#"{"path": "a"}"#), call(r#"{"path": "#)],
    });
    Step::json(&json!({
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 100, "total_tokens": 110},
    }))
}

fn openai_answer() -> Step {
    let message = json!({"role": "assistant", "content": "done"});
    Step::json(&json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
}

/// Two calls with the same id.
fn anthropic_reply() -> Step {
    let call = json!({"type": "tool_use", "id": "same", "name": "read", "input": {"path": "a"}});
    Step::json(&json!({
        "type": "message",
        "role": "assistant",
        "content": [call, call],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 10, "output_tokens": 20},
    }))
}

fn anthropic_answer() -> Step {
    Step::json(&json!({
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "done"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 20},
    }))
}

/// Runs a chain to its answer; gives the messages of the second request and how many calls ran.
async fn second_request(server: &ModelServer, model: impl Model + 'static) -> (Vec<Value>, usize) {
    let provider = Answers::done();
    let sampling = Sampling { max_tokens: Some(100), ..Sampling::default() };
    let chain = ToolChain::new(Arc::new(model), Arc::clone(&provider) as _).with_sampling(sampling);
    let outcome = run(&chain).await;
    assert_eq!(outcome.stop, StopReason::Answer);
    assert_eq!(outcome.answer.as_deref(), Some("done"));
    let messages = server.requests()[1].json()["messages"].as_array().unwrap().clone();
    (messages, provider.count())
}

/// The strings under a key of the items of a list that messages have, in order.
fn all<'a>(messages: &'a [Value], list: &str, key: &str) -> Vec<&'a str> {
    let items = messages.iter().filter_map(|message| message.get(list)?.as_array()).flatten();
    items.filter_map(|item| item.get(key)?.as_str()).collect()
}

#[tokio::test]
async fn double_ids_and_cut_off_calls_are_whole_for_openai() {
    let server = ModelServer::start([openai_reply(), openai_answer()]).unwrap();
    let model = OpenAiChat::new(HttpOptions::new(server.url(), "m")).unwrap();
    let (messages, executed) = second_request(&server, model).await;
    assert_eq!(executed, 1, "the second call was cut off");
    let asked = all(&messages, "tool_calls", "id");
    let answered: Vec<_> =
        messages.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked.iter().collect::<HashSet<_>>().len(), 2);
    assert_eq!(asked, answered);
    assert!(messages.last().unwrap()["content"].as_str().unwrap().contains("cut off"));
}

#[tokio::test]
async fn double_ids_are_whole_for_anthropic() {
    let server = ModelServer::start([anthropic_reply(), anthropic_answer()]).unwrap();
    let mut options = HttpOptions::new(server.url(), "m");
    options.key = Some(model::ApiKey::new("key").unwrap());
    let model = AnthropicMessages::new(options).unwrap();
    let (messages, executed) = second_request(&server, model).await;
    assert_eq!(executed, 2);
    let asked = all(&messages, "content", "id");
    let answered = all(&messages, "content", "tool_use_id");
    assert_eq!(asked.len(), 2);
    assert_eq!(asked.iter().collect::<HashSet<_>>().len(), 2);
    assert_eq!(asked, answered);
}
