//! A request in the format of chat completions.
//!
//! `max_tokens` travels as `max_completion_tokens` to OpenAI itself, whose newer models refuse the old
//! name, and as `max_tokens` to everyone else, because few others know the new one. Whether a call
//! failed has no field of its own; the text of its result says it.
//!
//! Source: <https://platform.openai.com/docs/api-reference/chat/create>.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::{
    ChatReply, ChatRequest, ModelError, Prepared, Sampling,
    conversation::{Turn, object_text, turns},
    openai::reply::Extras,
};

/// How a request is written, beyond what it says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style<'a> {
    pub(super) model: &'a str,
    pub(super) stream: bool,
    pub(super) sampling: Sampling,
    pub(super) is_openai: bool,
}

#[derive(Debug, Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: String,
        content: &'a str,
    },
}

#[derive(Debug, Serialize)]
struct WireCall<'a> {
    id: String,
    r#type: &'static str,
    function: WireFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<Value>,
}

#[derive(Debug, Serialize)]
struct WireFunction<'a> {
    name: String,
    arguments: Cow<'a, str>,
}

#[derive(Debug, Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    function: ToolFunction<'a>,
}

#[derive(Debug, Serialize)]
struct ToolFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

/// The body of a request.
pub(super) fn body(
    request: &ChatRequest,
    prepared: &Prepared,
    style: Style<'_>,
) -> Result<Vec<u8>, ModelError> {
    let mut messages = Vec::new();
    for turn in turns(&request.messages, |id| id.len() <= 256)? {
        match turn {
            Turn::System(content) => messages.push(WireMessage::System { content }),
            Turn::User(content) => messages.push(WireMessage::User { content }),
            Turn::Assistant { reply, ids } => messages.push(assistant(reply, ids, prepared)),
            Turn::Results(results) => messages.extend(results.into_iter().map(|result| {
                WireMessage::Tool { tool_call_id: result.id, content: result.content }
            })),
        }
    }
    let max = style.sampling.max_tokens;
    let body = Body {
        model: style.model,
        messages,
        tools: tools(prepared),
        stream: style.stream,
        stream_options: style.stream.then_some(StreamOptions { include_usage: true }),
        temperature: style.sampling.temperature,
        seed: style.sampling.seed,
        max_tokens: max.filter(|_| !style.is_openai),
        max_completion_tokens: max.filter(|_| style.is_openai),
    };
    serde_json::to_vec(&body).map_err(|error| ModelError::Request(error.to_string()))
}

fn tools(prepared: &Prepared) -> Vec<WireTool<'_>> {
    let functions = prepared.tools.iter().map(|tool| ToolFunction {
        name: &tool.wire_name,
        description: &tool.description,
        parameters: &tool.schema,
    });
    functions.map(|function| WireTool { r#type: "function", function }).collect()
}

fn assistant<'a>(reply: &'a ChatReply, ids: Vec<String>, prepared: &Prepared) -> WireMessage<'a> {
    let extras = Extras::of(reply);
    let mut extra_content = extras.extra_content.into_iter();
    let calls = reply.calls.iter().zip(ids).map(|(call, id)| WireCall {
        id,
        r#type: "function",
        function: WireFunction {
            name: prepared.names.wire_of_past(&call.name),
            arguments: object_text(&call.arguments),
        },
        extra_content: extra_content.next().flatten(),
    });
    let tool_calls: Vec<WireCall<'_>> = calls.collect();
    let reasoning_in = |field: &str| {
        reply.reasoning.as_deref().filter(|_| extras.reasoning_field.as_deref() == Some(field))
    };
    WireMessage::Assistant {
        content: Some(reply.text.as_str()).filter(|text| !text.is_empty() || tool_calls.is_empty()),
        reasoning_content: reasoning_in("reasoning_content"),
        reasoning: reasoning_in("reasoning"),
        tool_calls,
    }
}
