//! What a messages server answers: the wire types, and a reply from a whole body.
//!
//! Thinking blocks are signed and must come back exactly as they were, at the same place between text
//! and calls; [`Layout`] keeps them and that order in [`ChatReply::opaque`].
//!
//! Source: <https://docs.anthropic.com/en/api/messages>.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use tool_core::ToolCall;

use crate::{ChatReply, FinishReason, ToolNames, Usage, finish::settled, http::Fault};

#[derive(Debug, Default, Deserialize)]
pub(super) struct WireMessage {
    #[serde(default)]
    content: Option<Vec<Box<RawValue>>>,
    #[serde(default)]
    pub(super) stop_reason: Option<String>,
    #[serde(default)]
    pub(super) usage: Option<WireUsage>,
    #[serde(default)]
    error: Option<WireError>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct WireError {
    #[serde(default)]
    r#type: Option<String>,
    #[serde(default)]
    message: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
pub(super) struct WireUsage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct WireBlock {
    r#type: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    input: Option<Box<RawValue>>,
}

/// One block of a reply.
#[derive(Debug)]
pub(super) enum Block {
    Text(String),
    /// `pieces` are fragments of the arguments; `input` holds them where there are no fragments.
    Call {
        id: String,
        name: String,
        input: String,
        pieces: String,
    },
    /// A thinking block as it came, and its text.
    Kept {
        value: Map<String, Value>,
        thinking: String,
    },
    /// A kind that we never ask for.
    Unknown,
}

impl Block {
    pub(super) fn read(raw: &RawValue) -> Result<Self, Fault> {
        let unreadable = |error| Fault::unreadable("a block of the message", &error);
        let block: WireBlock = serde_json::from_str(raw.get()).map_err(unreadable)?;
        Ok(match block.r#type.as_str() {
            "text" => Self::Text(block.text.unwrap_or_default()),
            "tool_use" => Self::Call {
                id: block.id.unwrap_or_default(),
                name: block.name.unwrap_or_default(),
                input: block.input.map(|input| input.get().to_owned()).unwrap_or_default(),
                pieces: String::new(),
            },
            "thinking" | "redacted_thinking" => Self::Kept {
                value: serde_json::from_str(raw.get()).map_err(unreadable)?,
                thinking: block.thinking.unwrap_or_default(),
            },
            other => {
                tracing::warn!(kind = other, "a block of an unknown kind is left out of a reply");
                Self::Unknown
            }
        })
    }
}

impl WireUsage {
    /// These counts, with those of a later event over them.
    pub(super) fn with(self, later: Self) -> Self {
        Self {
            input_tokens: later.input_tokens.or(self.input_tokens),
            cache_creation_input_tokens: later
                .cache_creation_input_tokens
                .or(self.cache_creation_input_tokens),
            cache_read_input_tokens: later.cache_read_input_tokens.or(self.cache_read_input_tokens),
            output_tokens: later.output_tokens.or(self.output_tokens),
        }
    }

    /// The counts, cached tokens among the input, if the server gives both sides.
    fn usage(self) -> Option<Usage> {
        let cached = [self.cache_creation_input_tokens, self.cache_read_input_tokens];
        let cached: u64 = cached.into_iter().flatten().fold(0, u64::saturating_add);
        Some(Usage {
            input_tokens: self.input_tokens?.saturating_add(cached),
            output_tokens: self.output_tokens?,
        })
    }
}

impl WireError {
    /// The fault, with the status that the API documents for its kind.
    pub(super) fn fault(self) -> Fault {
        let kind = self.r#type.unwrap_or_default();
        let message = format!("{kind}: {}", self.message.unwrap_or_default());
        let status = match kind.as_str() {
            "invalid_request_error" => 400,
            "authentication_error" => 401,
            "billing_error" => 402,
            "permission_error" => 403,
            "not_found_error" => 404,
            "request_too_large" => 413,
            "rate_limit_error" => 429,
            "api_error" => 500,
            "timeout_error" => 504,
            "overloaded_error" => 529,
            _ => return Fault::Nonsense(format!("the server reports an error: {message}")),
        };
        Fault::Reported { status, message }
    }
}

/// The order of a reply's blocks, kept under `anthropic`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Placed {
    /// A thinking block, to go back as it is.
    Kept(Value),
    /// So many bytes of the text.
    Text(usize),
    /// The next call.
    Call,
}

/// The order of the blocks of a reply that has thinking blocks.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Layout(pub(super) Vec<Placed>);

impl Layout {
    /// That of a reply; empty where another provider made it, or nothing had to be kept.
    pub(super) fn of(reply: &ChatReply) -> Self {
        let own = reply.opaque.as_ref().and_then(|opaque| opaque.get("anthropic"));
        own.and_then(|own| Self::deserialize(own).ok()).unwrap_or_default()
    }

    fn into_opaque(self) -> Option<Value> {
        let has_kept = self.0.iter().any(|placed| matches!(placed, Placed::Kept(_)));
        has_kept.then(|| serde_json::json!({"anthropic": self}))
    }
}

/// The reply that these blocks are.
pub(super) fn assemble(
    blocks: impl IntoIterator<Item = Block>,
    stop_reason: Option<&str>,
    usage: WireUsage,
    names: &ToolNames,
    max_tokens: u32,
) -> ChatReply {
    let (mut text, mut reasoning) = (String::new(), String::new());
    let (mut calls, mut layout) = (Vec::new(), Layout::default());
    for block in blocks {
        match block {
            Block::Text(piece) => {
                layout.0.push(Placed::Text(piece.len()));
                text.push_str(&piece);
            }
            Block::Call { id, name, input, pieces } => {
                let arguments = if pieces.is_empty() { input } else { pieces };
                calls.push(ToolCall::from_text(id, names.original(&name), arguments));
                layout.0.push(Placed::Call);
            }
            Block::Kept { value, thinking } => {
                reasoning.push_str(&thinking);
                layout.0.push(Placed::Kept(Value::Object(value)));
            }
            Block::Unknown => {}
        }
    }
    let usage = usage.usage();
    let said = finish_of(stop_reason);
    ChatReply {
        finish: settled(said, &calls, usage, Some(max_tokens)),
        text,
        reasoning: (!reasoning.is_empty()).then_some(reasoning),
        calls,
        usage,
        opaque: layout.into_opaque(),
    }
}

fn finish_of(reason: Option<&str>) -> FinishReason {
    match reason {
        Some("end_turn" | "stop_sequence") => FinishReason::Stop,
        Some("tool_use") => FinishReason::ToolCalls,
        Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
        Some("refusal") => FinishReason::ContentFilter,
        Some(other) => FinishReason::Other(tool_core::clip(other, 200).to_owned()),
        None => FinishReason::Other("no stop_reason".to_owned()),
    }
}

/// A reply from a whole body.
pub(super) fn read_whole(
    body: &str,
    names: &ToolNames,
    max_tokens: u32,
) -> Result<ChatReply, Fault> {
    let message: WireMessage =
        serde_json::from_str(body).map_err(|error| Fault::unreadable("the message", &error))?;
    if let Some(error) = message.error {
        return Err(error.fault());
    }
    let content =
        message.content.ok_or_else(|| Fault::Nonsense("the message has no content".to_owned()))?;
    let blocks = content.iter().map(|raw| Block::read(raw)).collect::<Result<Vec<_>, _>>()?;
    let usage = message.usage.unwrap_or_default();
    Ok(assemble(blocks, message.stop_reason.as_deref(), usage, names, max_tokens))
}
