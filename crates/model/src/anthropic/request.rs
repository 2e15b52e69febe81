//! A request in the format of messages.
//!
//! System prompts travel apart from the conversation, joined by an empty line. What the user's side
//! says in a row is one message: first all results of a turn, one for each `tool_use`, then what the
//! person said. Text that is empty or white space is left out, because the API refuses it.
//!
//! Source: <https://docs.anthropic.com/en/api/messages>.

use serde::Serialize;
use serde_json::{Value, value::RawValue};
use tool_core::ToolCall;

use crate::{
    ChatReply, ChatRequest, ModelError, Prepared,
    anthropic::reply::{Layout, Placed},
    conversation::{CallResult, Turn, object_text, turns},
};

/// How a request is written, beyond what it says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style<'a> {
    pub(super) model: &'a str,
    pub(super) max_tokens: u32,
    pub(super) temperature: Option<f64>,
    pub(super) stream: bool,
}

#[derive(Debug, Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    system: String,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

#[derive(Debug, Serialize)]
struct WireTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

#[derive(Debug, Serialize)]
struct WireMessage<'a> {
    role: Role,
    content: Vec<WireBlock<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum WireBlock<'a> {
    Kept(Value),
    Own(OwnBlock<'a>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OwnBlock<'a> {
    Text {
        text: &'a str,
    },
    ToolUse {
        id: String,
        name: String,
        input: Box<RawValue>,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(skip_serializing_if = "str::is_empty")]
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// The body of a request.
pub(super) fn body(
    request: &ChatRequest,
    prepared: &Prepared,
    style: Style<'_>,
) -> Result<Vec<u8>, ModelError> {
    let mut system = Vec::new();
    let mut messages: Vec<WireMessage<'_>> = Vec::new();
    for turn in turns(&request.messages, is_id_allowed)? {
        let (role, content) = match turn {
            Turn::System(text) => {
                system.push(text);
                continue;
            }
            Turn::User(text) => (Role::User, text_block(text).into_iter().collect()),
            Turn::Assistant { reply, ids } => (Role::Assistant, assistant(reply, ids, prepared)?),
            Turn::Results(results) => (Role::User, results.into_iter().map(result).collect()),
        };
        match messages.last_mut() {
            _ if content.is_empty() => {}
            Some(last) if last.role == role => last.content.extend(content),
            _ => messages.push(WireMessage { role, content }),
        }
    }
    let tools = prepared.tools.iter().map(|tool| WireTool {
        name: &tool.wire_name,
        description: &tool.description,
        input_schema: &tool.schema,
    });
    let tools = tools.collect();
    let system = system.join("\n\n");
    let Style { model, max_tokens, temperature, stream } = style;
    let body = Body { model, max_tokens, system, messages, tools, stream, temperature };
    serde_json::to_vec(&body).map_err(unwritable)
}

/// The API asks for `^[a-zA-Z0-9_-]+$`.
fn is_id_allowed(id: &str) -> bool {
    id.len() <= 256 && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

fn unwritable(error: serde_json::Error) -> ModelError {
    ModelError::Request(error.to_string())
}

fn text_block(text: &str) -> Option<WireBlock<'_>> {
    (!text.trim().is_empty()).then_some(WireBlock::Own(OwnBlock::Text { text }))
}

fn result(result: CallResult<'_>) -> WireBlock<'_> {
    // The API refuses an error without a text.
    let content = match result.content.is_empty() && result.is_error {
        true => "the call failed and gave no message",
        false => result.content,
    };
    let (tool_use_id, is_error) = (result.id, result.is_error);
    WireBlock::Own(OwnBlock::ToolResult { tool_use_id, content, is_error })
}

fn call_block(
    call: &ToolCall,
    id: String,
    prepared: &Prepared,
) -> Result<WireBlock<'static>, ModelError> {
    let text = object_text(&call.arguments).into_owned();
    let input = RawValue::from_string(text).map_err(unwritable)?;
    let name = prepared.names.wire_of_past(&call.name);
    Ok(WireBlock::Own(OwnBlock::ToolUse { id, name, input }))
}

/// The blocks of a reply, in the order in which they came.
fn assistant<'a>(
    reply: &'a ChatReply,
    ids: Vec<String>,
    prepared: &Prepared,
) -> Result<Vec<WireBlock<'a>>, ModelError> {
    let mut blocks = Vec::new();
    let mut calls = reply.calls.iter().zip(ids);
    let mut text = reply.text.as_str();
    for placed in layout_of(reply) {
        match placed {
            Placed::Kept(value) => blocks.push(WireBlock::Kept(value)),
            Placed::Text(bytes) => {
                let (piece, rest) = text.split_at_checked(bytes).unwrap_or((text, ""));
                blocks.extend(text_block(piece));
                text = rest;
            }
            Placed::Call => {
                if let Some((call, id)) = calls.next() {
                    blocks.push(call_block(call, id, prepared)?);
                }
            }
        }
    }
    Ok(blocks)
}

/// The layout that the reply came with, if it still fits; else thinking, text, calls.
fn layout_of(reply: &ChatReply) -> Vec<Placed> {
    let kept = Layout::of(reply).0;
    let bytes: usize = kept.iter().map(|p| if let Placed::Text(n) = p { *n } else { 0 }).sum();
    let calls = kept.iter().filter(|placed| **placed == Placed::Call).count();
    if !kept.is_empty() && bytes == reply.text.len() && calls == reply.calls.len() {
        return kept;
    }
    let thinking = kept.into_iter().filter(|placed| matches!(placed, Placed::Kept(_)));
    let calls = std::iter::repeat_n(Placed::Call, reply.calls.len());
    thinking.chain([Placed::Text(reply.text.len())]).chain(calls).collect()
}
