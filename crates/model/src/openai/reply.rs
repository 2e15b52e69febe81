//! What a chat completions server answers: the wire types, and a reply from a whole body.
//!
//! The types take what servers really send: absent and null fields, content as a text or a list of
//! parts, ids that are numbers, arguments that are an object where a string belongs. Arguments are
//! kept as the text they came as.
//!
//! Source: <https://platform.openai.com/docs/api-reference/chat/object>.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tool_core::ToolCall;

use crate::{
    ChatReply, FinishReason, ToolNames, Usage,
    finish::settled,
    http::{Fault, message_of},
};

/// A whole body, or one chunk of a stream.
#[derive(Debug, Deserialize)]
pub(super) struct Completion {
    #[serde(default)]
    pub(super) choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(default)]
    pub(super) message: Option<WireMessage>,
    #[serde(default)]
    pub(super) delta: Option<WireMessage>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct WireMessage {
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) refusal: Option<String>,
    #[serde(default)]
    reasoning_content: Option<Value>,
    #[serde(default)]
    reasoning: Option<Value>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<WireCall>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireCall {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(default)]
    id: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) function: Option<WireFunction>,
    /// What a vendor wants back with the call (signatures of Gemini's thoughts).
    #[serde(default)]
    pub(super) extra_content: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct WireFunction {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

impl Completion {
    /// The counts, if the server gives both.
    pub(super) fn usage(&self) -> Option<Usage> {
        let count = |field| self.usage.as_ref()?.get(field)?.as_u64();
        let (input_tokens, output_tokens) = (count("prompt_tokens")?, count("completion_tokens")?);
        Some(Usage { input_tokens, output_tokens })
    }
}

impl WireMessage {
    /// The text; parts of a list are joined, and those without text skipped.
    pub(super) fn text(&self) -> Result<String, Fault> {
        let Some(raw) = self.content.as_deref() else { return Ok(String::new()) };
        let content: Value = serde_json::from_str(raw.get())
            .map_err(|error| Fault::unreadable("the content of the reply", &error))?;
        match content {
            Value::String(text) => Ok(text),
            Value::Array(parts) => {
                Ok(parts.iter().filter_map(|part| part.get("text")?.as_str()).collect())
            }
            _ => Err(Fault::Nonsense(
                "the content of the reply is neither a text nor a list of parts".into(),
            )),
        }
    }

    /// The reasoning, and the field that it stood in.
    pub(super) fn reasoning(&self) -> Option<(&'static str, &str)> {
        let fields =
            [("reasoning_content", &self.reasoning_content), ("reasoning", &self.reasoning)];
        fields.into_iter().find_map(|(field, text)| Some((field, text.as_ref()?.as_str()?)))
    }
}

impl WireCall {
    /// The id, also where it is a number; empty where there is none.
    pub(super) fn id(&self) -> String {
        self.id.as_deref().map(text_of).unwrap_or_default()
    }
}

impl WireFunction {
    /// The arguments as text: a string's content, anything else as it is written.
    pub(super) fn arguments(&self) -> String {
        self.arguments.as_deref().map(text_of).unwrap_or_default()
    }
}

/// The content of a JSON string; the text itself of anything else, also of a string that can't be
/// decoded (a lone surrogate), which the pipeline then refuses.
fn text_of(raw: &RawValue) -> String {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}

/// What must go back with a reply, kept in [`ChatReply::opaque`] under `openai`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Extras {
    /// The field that reasoning came in; a server that gives reasoning beside calls wants it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_field: Option<String>,
    /// `extra_content` of each call; empty where no call had any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) extra_content: Vec<Option<Value>>,
}

impl Extras {
    /// Those of a reply; none where another provider made it.
    pub(super) fn of(reply: &ChatReply) -> Self {
        let own = reply.opaque.as_ref().and_then(|opaque| opaque.get("openai"));
        own.and_then(|own| Self::deserialize(own).ok()).unwrap_or_default()
    }

    fn into_opaque(self) -> Option<Value> {
        let is_empty = self.reasoning_field.is_none() && self.extra_content.is_empty();
        (!is_empty).then(|| serde_json::json!({"openai": self}))
    }
}

/// The pieces of a reply, from a body or a stream.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) text: String,
    pub(super) refusal: String,
    pub(super) reasoning: String,
    pub(super) reasoning_field: Option<&'static str>,
    pub(super) calls: Vec<(ToolCall, Option<Value>)>,
    pub(super) finish_reason: Option<String>,
    pub(super) usage: Option<Usage>,
}

impl Draft {
    /// The reply.
    pub(super) fn reply(self, max_tokens: Option<u32>) -> ChatReply {
        let (calls, extra): (Vec<ToolCall>, Vec<Option<Value>>) = self.calls.into_iter().unzip();
        let said = finish_of(self.finish_reason.as_deref(), !calls.is_empty());
        let is_refusal = !self.refusal.is_empty();
        let extras = Extras {
            reasoning_field: self.reasoning_field.filter(|_| !calls.is_empty()).map(str::to_owned),
            extra_content: if extra.iter().any(Option::is_some) { extra } else { Vec::new() },
        };
        ChatReply {
            finish: match is_refusal {
                true => FinishReason::ContentFilter,
                false => settled(said, &calls, self.usage, max_tokens),
            },
            text: self.text + &self.refusal,
            reasoning: (!self.reasoning.is_empty()).then_some(self.reasoning),
            calls,
            usage: self.usage,
            opaque: extras.into_opaque(),
        }
    }
}

fn finish_of(reason: Option<&str>, has_calls: bool) -> FinishReason {
    match reason.unwrap_or_default() {
        "" if has_calls => FinishReason::ToolCalls,
        "" => FinishReason::Other("no finish_reason".to_owned()),
        "stop" => FinishReason::Stop,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "length" | "model_length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        other => FinishReason::Other(tool_core::clip(other, 200).to_owned()),
    }
}

/// The fault that an `error` field means. Its `code` is taken as the status where it is one.
pub(super) fn reported(error: &Value) -> Fault {
    let message = message_of(&serde_json::json!({"error": error}).to_string());
    let code = error.get("code").or_else(|| error.get("status"));
    let number = code.and_then(|code| match code {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64().and_then(|code| u16::try_from(code).ok()),
    });
    let kind = error.get("type").and_then(Value::as_str).unwrap_or_default();
    let status = number.filter(|code| (400..600).contains(code)).or(match kind {
        "server_error" | "internal_server_error" => Some(500),
        "rate_limit_error" | "rate_limit_exceeded" => Some(429),
        "overloaded_error" => Some(529),
        _ => None,
    });
    match status {
        Some(status) => Fault::Reported { status, message },
        None => Fault::Nonsense(format!("the server reports an error: {message}")),
    }
}

/// A reply from a whole body.
pub(super) fn read_whole(
    body: &str,
    names: &ToolNames,
    max_tokens: Option<u32>,
) -> Result<ChatReply, Fault> {
    let completion: Completion = serde_json::from_str(body)
        .map_err(|error| Fault::unreadable("the chat completion", &error))?;
    if let Some(error) = &completion.error {
        return Err(reported(error));
    }
    let usage = completion.usage();
    let mut choices = completion.choices.unwrap_or_default().into_iter();
    let choice = choices.next().ok_or_else(|| Fault::Nonsense("it has no choices".to_owned()))?;
    let message =
        choice.message.ok_or_else(|| Fault::Nonsense("its choice has no message".to_owned()))?;
    let mut draft = Draft {
        text: message.text()?,
        finish_reason: choice.finish_reason,
        usage,
        ..Draft::default()
    };
    if let Some((field, text)) = message.reasoning() {
        draft.reasoning = text.to_owned();
        draft.reasoning_field = Some(field);
    }
    draft.refusal = message.refusal.unwrap_or_default();
    draft.calls = message.tool_calls.into_iter().flatten().map(|call| whole(call, names)).collect();
    Ok(draft.reply(max_tokens))
}

fn whole(call: WireCall, names: &ToolNames) -> (ToolCall, Option<Value>) {
    let id = call.id();
    let function = call.function.unwrap_or_default();
    let arguments = function.arguments();
    let name = function.name.unwrap_or_default();
    (ToolCall::from_text(id, names.original(&name), arguments), call.extra_content)
}
