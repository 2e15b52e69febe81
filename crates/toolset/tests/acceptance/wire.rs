//! The same over the wire: what a server is sent as the second request.

use std::sync::Arc;

use chain::NoObserver;
use model::{HttpOptions, OpenAiChat};
use serde_json::{Value, json};
use testkit::{ModelServer, Step};
use tokio_util::sync::CancellationToken;

use crate::support::{Bench, task};

fn openai(message: &Value, finish: &str) -> Step {
    Step::json(&json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}))
}

#[tokio::test]
async fn results_are_tool_messages_with_the_ids_of_their_calls() {
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let calls = [
        call("call_b", "read_file_in_workdir", r#"{"path": "note.txt"}"#),
        call("call_a", "read_file_in_workdir", r#"{"path": "../outside.txt"}"#),
        call("call_c", "read_file_in_workdir", r#"{"path": "long.txt"}"#),
    ];
    let asks = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let says = json!({"role": "assistant", "content": "It is a note."});
    let server = ModelServer::start([openai(&asks, "tool_calls"), openai(&says, "stop")]).unwrap();
    let model = OpenAiChat::new(HttpOptions::new(server.url(), "m")).unwrap();
    let bench = Bench::new();
    let chain = bench.chain(Arc::new(model));
    let outcome = chain.run(task(), &NoObserver, CancellationToken::new()).await.unwrap();
    assert_eq!(outcome.answer.as_deref(), Some("It is a note."));

    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let body = requests[1].json();
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "tool"]);
    assert_eq!(messages[2]["tool_calls"].as_array().unwrap().len(), 3);
    for (message, id) in messages[3..].iter().zip(["call_b", "call_a", "call_c"]) {
        assert_eq!(message["tool_call_id"], id);
    }
    let content = |at: usize| messages[at]["content"].as_str().unwrap();
    assert_eq!(content(3), "The note: καλημέρα\n");
    assert!(content(4).contains("leaves the working directory"), "{}", content(4));
    assert!(!content(4).contains("secret"), "{}", content(4));
    crate::check_long(content(5));
}
