//! A conversation made fit for the wire, whatever the vendor: every call has an id of its own, and
//! exactly one result.
//!
//! Models send ids that are empty or double, and vendors refuse a history with such ids. So results
//! are matched with calls by position, and a call whose id is empty, double or not allowed travels
//! under `call_N`, N being its place among all calls of the conversation. As a conversation only
//! grows, a call keeps its wire id from request to request.

use std::{borrow::Cow, collections::BTreeSet};

use serde_json::value::RawValue;
use tool_core::RawArguments;

use crate::{ChatReply, Message, ModelError};

/// A part of the conversation that becomes one message, or one run of them.
#[derive(Debug, PartialEq)]
pub(crate) enum Turn<'a> {
    /// Instructions of the operator.
    System(&'a str),
    /// What a person asks.
    User(&'a str),
    /// A reply, with a wire id for each of its calls.
    Assistant { reply: &'a ChatReply, ids: Vec<String> },
    /// The results of the reply before, one for each of its calls, in the same order.
    Results(Vec<CallResult<'a>>),
}

/// One result, under the wire id of its call.
#[derive(Debug, PartialEq)]
pub(crate) struct CallResult<'a> {
    pub(crate) id: String,
    pub(crate) content: &'a str,
    pub(crate) is_error: bool,
}

/// Reads the messages as turns.
///
/// # Errors
/// [`ModelError::Request`] where a call has no result, a result no call, or the wrong one.
pub(crate) fn turns(
    messages: &[Message],
    is_id_allowed: fn(&str) -> bool,
) -> Result<Vec<Turn<'_>>, ModelError> {
    let mut ids = WireIds { used: BTreeSet::new(), calls: 0, is_allowed: is_id_allowed };
    let mut turns = Vec::new();
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        at += 1;
        match message {
            Message::System(text) => turns.push(Turn::System(text)),
            Message::User(text) => turns.push(Turn::User(text)),
            Message::Assistant(reply) => {
                let wire_ids: Vec<String> =
                    reply.calls.iter().map(|call| ids.wire_id(call.id.as_str())).collect();
                let results = results(reply, &wire_ids, messages, at)?;
                at += results.len();
                turns.push(Turn::Assistant { reply, ids: wire_ids });
                if !results.is_empty() {
                    turns.push(Turn::Results(results));
                }
            }
            Message::Tool { call_id, .. } => {
                let place = at - 1;
                return Err(refuse(format!(
                    "message {place} is the result of a call {call_id:?}, and there is no call left \
                     that it could answer"
                )));
            }
        }
    }
    Ok(turns)
}

/// The results of a reply's calls, which stand from `start` on.
fn results<'a>(
    reply: &ChatReply,
    wire_ids: &[String],
    messages: &'a [Message],
    start: usize,
) -> Result<Vec<CallResult<'a>>, ModelError> {
    let mut results = Vec::new();
    for (position, (call, wire_id)) in reply.calls.iter().zip(wire_ids).enumerate() {
        let place = start + position;
        let Some(Message::Tool { call_id, content, is_error, .. }) = messages.get(place) else {
            return Err(refuse(format!(
                "call {position} of the reply at message {} has no result at message {place}",
                start - 1
            )));
        };
        if !call.id.is_empty() && !call_id.is_empty() && call.id.as_str() != call_id {
            return Err(refuse(format!(
                "message {place} answers the call {call_id:?} where the call {:?} is due",
                call.id.as_str()
            )));
        }
        results.push(CallResult { id: wire_id.clone(), content, is_error: *is_error });
    }
    Ok(results)
}

fn refuse(message: String) -> ModelError {
    ModelError::Request(message)
}

struct WireIds {
    used: BTreeSet<String>,
    calls: usize,
    is_allowed: fn(&str) -> bool,
}

impl WireIds {
    fn wire_id(&mut self, id: &str) -> String {
        let number = self.calls;
        self.calls += 1;
        let mut wire_id = id.to_owned();
        let mut suffix = String::new();
        while wire_id.is_empty() || !(self.is_allowed)(&wire_id) || self.used.contains(&wire_id) {
            wire_id = format!("call_{number}{suffix}");
            suffix.push('x');
        }
        self.used.insert(wire_id.clone());
        wire_id
    }
}

/// Arguments of a past call as the JSON text of an object, which servers ask for: some parse the
/// history and refuse all of it for one call that does not parse.
///
/// An object stays as it is written; nothing becomes `{}`; an object that was once more encoded as a
/// string is decoded once, as the pipeline reads it; any other text travels whole as
/// `{"malformed_arguments": text}`.
pub(crate) fn object_text(arguments: &RawArguments) -> Cow<'_, str> {
    let text = arguments.to_text();
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed == "null" {
        return "{}".into();
    }
    if is_object(trimmed) {
        return text;
    }
    match serde_json::from_str::<String>(trimmed) {
        Ok(inner) if is_object(inner.trim()) => inner.into(),
        _ => serde_json::json!({"malformed_arguments": text}).to_string().into(),
    }
}

fn is_object(text: &str) -> bool {
    text.starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use tool_core::ToolCall;

    use super::*;
    use crate::FinishReason;

    fn reply(ids: &[&str]) -> Message {
        Message::Assistant(ChatReply {
            text: String::new(),
            reasoning: None,
            calls: ids.iter().map(|id| ToolCall::from_text(*id, "now", "{}")).collect(),
            finish: FinishReason::ToolCalls,
            usage: None,
            opaque: None,
        })
    }

    fn result(id: &str, content: &str) -> Message {
        Message::Tool {
            call_id: id.to_owned(),
            name: "now".to_owned(),
            content: content.to_owned(),
            is_error: false,
        }
    }

    #[test]
    fn every_call_gets_an_id_of_its_own_and_its_result_by_position() {
        let messages = [
            reply(&["a", "a", "", "call_1"]),
            result("a", "first"),
            result("a", "second"),
            result("", "third"),
            result("call_1", "fourth"),
            reply(&["b c"]),
            result("b c", "fifth"),
        ];
        let turns = turns(&messages, |id| !id.contains(' ')).unwrap();
        let paired: Vec<(&str, &str)> = turns
            .iter()
            .filter_map(|turn| match turn {
                Turn::Results(results) => Some(results),
                _ => None,
            })
            .flatten()
            .map(|result| (result.id.as_str(), result.content))
            .collect();
        assert_eq!(
            paired,
            [
                ("a", "first"),
                ("call_1", "second"),
                ("call_2", "third"),
                ("call_3", "fourth"),
                ("call_4", "fifth"),
            ]
        );
        let Turn::Assistant { ids, .. } = &turns[0] else { panic!("{turns:?}") };
        assert_eq!(ids, &["a", "call_1", "call_2", "call_3"]);
    }

    #[test]
    fn a_conversation_out_of_step_is_refused() {
        let check = |messages: &[Message], word: &str| {
            let error = turns(messages, |_| true).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        };
        check(&[reply(&["a"])], "has no result at message 1");
        check(&[reply(&["a"]), Message::User("go on".into())], "has no result");
        check(&[reply(&["a"]), result("a", ""), result("a", "")], "no call left");
        check(&[result("a", "")], "no call left");
        check(&[reply(&["a", "b"]), result("b", ""), result("a", "")], "\"a\" is due");
    }

    #[test]
    fn past_arguments_are_always_an_object() {
        let check = |given: &str, expected: &str| {
            assert_eq!(object_text(&RawArguments::Text(given.to_owned())), expected, "{given}");
        };
        check(r#"{"b": 1, "a": 1e2}"#, r#"{"b": 1, "a": 1e2}"#);
        check("  ", "{}");
        check("null", "{}");
        check(r#""{\"a\": 1}""#, r#"{"a": 1}"#);
        check("[1]", r#"{"malformed_arguments":"[1]"}"#);
        check(r#"{"a": "#, r#"{"malformed_arguments":"{\"a\": "}"#);
    }
}
