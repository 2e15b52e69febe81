//! A model that replays a script, for examples, tests and recorded sessions.
//!
//! A script is JSON Lines: one reply a line, blank lines skipped, unknown keys refused.
//!
//! ```text
//! {"text": "I look.", "calls": [{"id": "c1", "name": "read_file", "arguments": {"path": "a.txt"}}]}
//! {"text": "It says hello.", "expect": {"last_tool_contains": "hello"}}
//! ```
//!
//! | key | holds | where absent |
//! | --- | --- | --- |
//! | `text` | what the model says | empty |
//! | `reasoning` | what it thought | none |
//! | `calls` | its calls: `id`, `name`, `arguments` (an object, or a string taken as the raw text) | none |
//! | `finish` | `stop`, `tool_calls`, `length`, `content_filter` or `{"other": "…"}` | `tool_calls` with calls, else `stop` |
//! | `usage` | `input_tokens`, `output_tokens` | none |
//! | `expect` | what must be true of the request, see below | nothing |
//!
//! `expect` proves that results came back: `last_contains` (a text in the last message),
//! `last_tool_contains` (in the last result of a call), `last_tool_is_error`, `tool_results` (how many
//! results stand at the end), `offers` (names of tools that must be on offer). What does not fit is
//! [`ModelError::Script`] with the line.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::value::RawValue;
use tool_core::{BoxFuture, ToolCall, clip};

use crate::{ChatReply, ChatRequest, Delta, FinishReason, Message, Model, ModelError, Usage};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    text: String,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    calls: Vec<ScriptedCall>,
    #[serde(default)]
    finish: Option<FinishReason>,
    #[serde(default)]
    usage: Option<ScriptedUsage>,
    #[serde(default)]
    expect: Expectation,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    #[serde(default)]
    id: String,
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedUsage {
    input_tokens: u64,
    output_tokens: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Expectation {
    last_contains: Option<String>,
    last_tool_contains: Option<String>,
    last_tool_is_error: Option<bool>,
    tool_results: Option<usize>,
    offers: Vec<String>,
}

#[derive(Debug)]
struct Step {
    line: usize,
    expect: Expectation,
    reply: ChatReply,
}

/// A model that gives the replies of a script, one after the other.
///
/// ```
/// let model = model::ScriptedModel::from_jsonl("replay", r#"{"text": "hello"}"#)?;
/// assert_eq!(model.replies(), 1);
/// let error = model::ScriptedModel::from_jsonl("replay", r#"{"txet": "hello"}"#).unwrap_err();
/// assert!(error.to_string().starts_with("line 1 of the script: unknown field `txet`"));
/// # Ok::<(), model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct ScriptedModel {
    name: String,
    steps: Vec<Step>,
    next: AtomicUsize,
}

impl ScriptedModel {
    /// Reads a script. `name` is the model's name for people.
    ///
    /// # Errors
    /// [`ModelError::Script`] for the first line that is no reply, [`ModelError::Config`] for a script
    /// without one.
    pub fn from_jsonl(name: impl Into<String>, script: &str) -> Result<Self, ModelError> {
        let lines = script.lines().enumerate().filter(|(_, text)| !text.trim().is_empty());
        let steps = lines.map(|(at, text)| step(at + 1, text)).collect::<Result<Vec<_>, _>>()?;
        if steps.is_empty() {
            return Err(ModelError::Config("the script holds no reply".to_owned()));
        }
        Ok(Self { name: name.into(), steps, next: AtomicUsize::new(0) })
    }

    /// How many replies it has.
    #[must_use]
    pub fn replies(&self) -> usize {
        self.steps.len()
    }

    fn next_reply(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        let step =
            self.steps.get(at).ok_or(ModelError::ScriptEnded { replies: self.steps.len() })?;
        let fits = step.expect.check(request);
        fits.map_err(|message| ModelError::Script { line: step.line, message })?;
        Ok(step.reply.clone())
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let reply = self.next_reply(request)?;
            if let Some(reasoning) = &reply.reasoning {
                on_delta(Delta::Reasoning(reasoning.clone()));
            }
            if !reply.text.is_empty() {
                on_delta(Delta::Text(reply.text.clone()));
            }
            for (index, call) in reply.calls.iter().enumerate() {
                on_delta(Delta::CallStarted { index, name: call.name.clone() });
            }
            Ok(reply)
        })
    }
}

fn step(line: usize, text: &str) -> Result<Step, ModelError> {
    let problem = |message: String| ModelError::Script { line, message };
    let read: Line = serde_json::from_str(text).map_err(|error| {
        // The text is one line, so the error's own line number would mislead.
        let full = error.to_string();
        let (message, _) = full.rsplit_once(" at line ").unwrap_or((full.as_str(), ""));
        problem(format!("{message} at column {}", error.column()))
    })?;
    let calls = read.calls.into_iter().map(call).collect::<Result<Vec<_>, _>>().map_err(problem)?;
    let default = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    let usage = read.usage.map(|usage| Usage {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
    });
    let reply = ChatReply {
        text: read.text,
        reasoning: read.reasoning,
        calls,
        finish: read.finish.unwrap_or(default),
        usage,
        opaque: None,
    };
    Ok(Step { line, expect: read.expect, reply })
}

/// An object stays as it is written; the content of a string is the raw text.
fn call(scripted: ScriptedCall) -> Result<ToolCall, String> {
    let raw = scripted.arguments.as_deref().map(RawValue::get);
    let arguments = match raw.map(|text| (text, text.as_bytes().first())) {
        None => String::new(),
        Some((text, Some(b'"'))) => serde_json::from_str(text)
            .map_err(|error| format!("the arguments of {:?}: {error}", scripted.name))?,
        Some((text, Some(b'{'))) => text.to_owned(),
        Some((text, _)) => {
            return Err(format!(
                "the arguments of {:?} are {:?}, and must be an object, or a string that is taken as \
                 the raw text",
                scripted.name,
                clip(text, 40)
            ));
        }
    };
    Ok(ToolCall::from_text(scripted.id, scripted.name, arguments))
}

impl Expectation {
    fn check(&self, request: &ChatRequest) -> Result<(), String> {
        let tools: Vec<&Message> = request
            .messages
            .iter()
            .rev()
            .take_while(|message| matches!(message, Message::Tool { .. }))
            .collect();
        let last_tool = request.messages.iter().rfind(|m| matches!(m, Message::Tool { .. }));
        holds("last message", self.last_contains.as_deref(), request.messages.last())?;
        holds("last tool result", self.last_tool_contains.as_deref(), last_tool)?;
        if let Some(expected) = self.last_tool_is_error {
            let found = matches!(last_tool, Some(Message::Tool { is_error: true, .. }));
            if last_tool.is_none() || found != expected {
                return Err(format!(
                    "expected a last tool result with is_error {expected}, and found {}",
                    last_tool.map_or("none".to_owned(), |_| found.to_string())
                ));
            }
        }
        if let Some(expected) = self.tool_results.filter(|expected| *expected != tools.len()) {
            return Err(format!(
                "expected {expected} tool results at the end, and found {}",
                tools.len()
            ));
        }
        let is_offered =
            |name: &&String| request.tools.iter().any(|tool| tool.name().as_str() == name.as_str());
        match self.offers.iter().find(|name| !is_offered(name)) {
            Some(missing) => Err(format!("expected the tool {missing:?} on offer")),
            None => Ok(()),
        }
    }
}

fn holds(what: &str, expected: Option<&str>, message: Option<&Message>) -> Result<(), String> {
    let Some(expected) = expected else { return Ok(()) };
    let found = match message {
        Some(Message::System(text) | Message::User(text)) => text.as_str(),
        Some(Message::Assistant(reply)) => reply.text.as_str(),
        Some(Message::Tool { content, .. }) => content.as_str(),
        None => return Err(format!("expected a {what} with {expected:?}, and there is none")),
    };
    match found.contains(expected) {
        true => Ok(()),
        false => {
            Err(format!("expected {expected:?} in the {what}, and found {:?}", clip(found, 200)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(script: &str, expected: &str) {
        let error = ScriptedModel::from_jsonl("s", script).unwrap_err().to_string();
        assert!(error.contains(expected), "{script}: {error}");
    }

    #[test]
    fn a_line_that_is_no_reply_is_named() {
        refused("{\"text\": \"a\"}\n\n{\"text\": 5}", "line 3 of the script: invalid type");
        refused(r#"{"calls": [{"id": "c"}]}"#, "missing field `name`");
        refused(r#"{"calls": [{"name": "f", "args": {}}]}"#, "unknown field `args`");
        refused(r#"{"calls": [{"name": "f", "arguments": 5}]}"#, "must be an object");
        refused(r#"{"usage": {"input_tokens": 1}}"#, "output_tokens");
        refused(r#"{"expect": {"contains": "x"}}"#, "unknown field `contains`");
        refused(r#"{"finish": "done"}"#, "unknown variant");
        refused("not json", "line 1 of the script: expected ident at column 2");
        refused("\n \n", "holds no reply");
    }

    #[test]
    fn arguments_keep_their_text() {
        let script = r#"{"calls": [{"name": "f", "arguments": {"b": 1, "a":  1e2}},
            {"name": "g", "arguments": "{\"broken\": "}, {"name": "h"}]}"#
            .replace('\n', "");
        let model = ScriptedModel::from_jsonl("s", &script).unwrap();
        let reply = model.next_reply(&ChatRequest::default()).unwrap();
        let texts: Vec<_> = reply.calls.iter().map(|call| call.arguments.to_text()).collect();
        assert_eq!(texts, [r#"{"b": 1, "a":  1e2}"#, r#"{"broken": "#, ""]);
        assert_eq!(reply.finish, FinishReason::ToolCalls);
    }

    #[test]
    fn a_request_that_does_not_fit_is_an_error_of_its_line() {
        let tool = |content: &str, is_error| Message::Tool {
            call_id: String::new(),
            name: "f".into(),
            content: content.into(),
            is_error,
        };
        let request = ChatRequest {
            messages: vec![Message::User("go".into()), tool("one", false), tool("two", true)],
            ..ChatRequest::default()
        };
        let check = |expect: &str, problem: Option<&str>| {
            let script = format!("\n{{\"text\": \"ok\", \"expect\": {expect}}}");
            let model = ScriptedModel::from_jsonl("s", &script).unwrap();
            let found = model.next_reply(&request).map_err(|error| error.to_string());
            match (found, problem) {
                (Ok(reply), None) => assert_eq!(reply.text, "ok"),
                (Err(error), Some(problem)) => {
                    assert!(error.starts_with("line 2 of the script"), "{error}");
                    assert!(error.contains(problem), "{error}");
                }
                (found, _) => panic!("{expect}: {found:?}"),
            }
        };
        check(r#"{"last_contains": "tw", "last_tool_contains": "two"}"#, None);
        check(r#"{"last_tool_is_error": true, "tool_results": 2}"#, None);
        check(r#"{"last_contains": "one"}"#, Some("found \"two\""));
        check(r#"{"last_tool_contains": "three"}"#, Some("last tool result"));
        check(r#"{"last_tool_is_error": false}"#, Some("is_error false"));
        check(r#"{"tool_results": 1}"#, Some("found 2"));
        check(r#"{"offers": ["f"]}"#, Some("\"f\" on offer"));
    }

    #[test]
    fn a_script_ends() {
        let model = ScriptedModel::from_jsonl("s", r#"{"text": "a"}"#).unwrap();
        assert!(model.next_reply(&ChatRequest::default()).is_ok());
        let ended = model.next_reply(&ChatRequest::default()).unwrap_err();
        assert!(matches!(ended, ModelError::ScriptEnded { replies: 1 }), "{ended:?}");
    }
}
