//! What an observer hears, as JSON lines.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use chain::{ChainEvent, ToolChain};
use model::{ChatReply, ChatRequest, Delta, FinishReason, Model, ModelError, Usage};
use tool_core::{BoxFuture, ToolError, ToolResult};

use crate::support::{Answers, Script, asks, costing, cut, ok, says, task};

async fn heard(chain: &ToolChain) -> Vec<ChainEvent> {
    let events = Mutex::new(Vec::new());
    let observer = |event: &ChainEvent| events.lock().unwrap().push(event.clone());
    chain.run(task(), &observer, Default::default()).await.unwrap();
    events.into_inner().unwrap()
}

fn lines(events: &[ChainEvent]) -> String {
    let line = |event| serde_json::to_string(event).unwrap();
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn a_chain_is_told_as_json_lines() {
    let provider = Answers::new(|call| match call.name.as_str() {
        "read" => Ok(ok(call, "text")),
        _ => {
            let error = ToolError::failed("no such file");
            Ok(ToolResult::error(call.id.clone(), call.name.clone(), &error))
        }
    });
    let thought = Some("Both files are needed.".to_owned());
    let first = asks([("", "read", r#"{"path": "a"}"#), ("x", "stat", r#"{"path": "b"}"#)]);
    let first = ChatReply { reasoning: thought, text: "I look.".to_owned(), ..first };
    let second = cut(asks([("", "read", r#"{"path": "#)]));
    let script =
        [costing(first, 100, 20), costing(second, 150, 30), costing(says("It is empty."), 200, 5)];
    let chain = ToolChain::new(Script::new(script), provider);
    let events = heard(&chain).await;
    insta::assert_snapshot!(lines(&events));
    for event in events {
        let json = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<ChainEvent>(&json).unwrap(), event);
    }
}

/// A model that is heard while it writes.
struct Streaming;

impl fmt::Debug for Streaming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Streaming")
    }
}

impl Model for Streaming {
    fn name(&self) -> &str {
        "streaming"
    }

    fn chat<'a>(
        &'a self,
        _request: &'a ChatRequest,
        on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            on_delta(Delta::Reasoning("Hm.".to_owned()));
            on_delta(Delta::Text("It is ".to_owned()));
            on_delta(Delta::Text("empty.".to_owned()));
            on_delta(Delta::CallStarted { index: 0, name: "read".to_owned() });
            let usage = Some(Usage { input_tokens: 3, output_tokens: 2 });
            let reasoning = Some("Hm.".to_owned());
            Ok(ChatReply { usage, reasoning, finish: FinishReason::Stop, ..says("It is empty.") })
        })
    }
}

#[tokio::test]
async fn what_was_streamed_is_not_told_twice() {
    let chain = ToolChain::new(Arc::new(Streaming), Answers::done());
    let events = heard(&chain).await;
    let told: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ChainEvent::TextDelta { text, .. } | ChainEvent::ReasoningDelta { text, .. } => {
                Some(text.as_str())
            }
            ChainEvent::CallAnnounced { tool, .. } => Some(tool.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["Hm.", "It is ", "empty.", "read"]);
}
