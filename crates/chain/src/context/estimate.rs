//! About how many tokens messages take.
//!
//! Without a tokenizer: one token for four bytes of text, and four for the frame of each message.
//! That is close for English and code and too low for some other scripts; so what a provider counted
//! for a request and its reply counts instead, spread over the messages it was for. Messages that came
//! later are estimated by their bytes until the next count.

use model::{ChatReply, Message};
use tool_core::ToolSpec;

const BYTES_PER_TOKEN: u64 = 4;
const FRAME_TOKENS: u64 = 4;

/// The tokens of one message, by its bytes.
pub(crate) fn message_tokens(message: &Message) -> u64 {
    FRAME_TOKENS
        + match message {
            Message::System(text) | Message::User(text) => text_tokens(text.len()),
            Message::Assistant(reply) => reply_tokens(reply),
            Message::Tool { call_id, name, content, .. } => {
                text_tokens(call_id.len() + name.len() + content.len())
            }
        }
}

/// The tokens of messages, by their bytes.
pub(crate) fn messages_tokens(messages: &[Message]) -> u64 {
    messages.iter().map(message_tokens).sum()
}

/// The tokens of a reply, by its bytes.
pub(crate) fn reply_tokens(reply: &ChatReply) -> u64 {
    let calls: usize = reply
        .calls
        .iter()
        .map(|call| call.id.as_str().len() + call.name.len() + call.arguments.len_bytes())
        .sum();
    let opaque = reply.opaque.as_ref().map_or(0, |value| value.to_string().len());
    text_tokens(reply.text.len() + calls + opaque)
}

/// The tokens of the tools on offer, by their bytes.
pub(crate) fn tools_tokens(tools: &[ToolSpec]) -> u64 {
    let tokens = |spec: &ToolSpec| {
        let parameters = spec.parameters().to_string().len();
        let bytes = spec.name().as_str().len() + spec.description().len() + parameters;
        FRAME_TOKENS + text_tokens(bytes)
    };
    tools.iter().map(tokens).sum()
}

/// The tokens of so many bytes.
pub(crate) fn text_tokens(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(BYTES_PER_TOKEN)
}

/// The bytes that so many tokens stand for.
pub(crate) fn token_bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX)
}

/// What a provider counted, against what was estimated for the same messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measure {
    /// The count is for the messages before this one.
    pub(crate) until: usize,
    /// What the provider counted.
    pub(crate) counted: u64,
    /// What the estimate by bytes was.
    pub(crate) estimated: u64,
}

impl Measure {
    /// The tokens of something that was part of what was counted.
    pub(crate) fn scale(&self, estimate: u64) -> u64 {
        let scaled = (u128::from(estimate) * u128::from(self.counted))
            .div_ceil(u128::from(self.estimated.max(1)));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_spread_over_what_it_was_for() {
        let measure = Measure { until: 3, counted: 300, estimated: 100 };
        assert_eq!(measure.scale(100), 300);
        assert_eq!(measure.scale(1), 3);
        assert_eq!(Measure { estimated: 0, ..measure }.scale(0), 0);
    }

    #[test]
    fn four_bytes_are_a_token() {
        assert_eq!(message_tokens(&Message::User("12345".to_owned())), 4 + 2);
        assert_eq!(token_bytes(text_tokens(8)), 8);
    }
}
