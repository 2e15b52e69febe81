//! The contract: what is asked of a model, and what it answers.
//!
//! Tool calls come back as the model wrote them: arguments stay text, ids may be empty or double,
//! names may be wrong. Nothing is repaired on the way; deciding about them is the pipeline's work.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use tool_core::{BoxFuture, ToolCall, ToolSpec};

use crate::LeftOut;

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Instructions of the operator.
    System(String),
    /// What a person asks.
    User(String),
    /// A reply of the model, kept whole so that it can be sent back whole.
    Assistant(ChatReply),
    /// The answer to one tool call of the reply before; every call has exactly one.
    Tool {
        /// The id of the call, as it stands in the reply.
        call_id: String,
        /// The name of the tool.
        name: String,
        /// The result as text.
        content: String,
        /// Whether the call failed.
        is_error: bool,
    },
}

/// How a reply is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// The sampling temperature; the provider's default where absent.
    pub temperature: Option<f64>,
    /// A seed, where the provider takes one.
    pub seed: Option<i64>,
    /// The most tokens of one reply.
    pub max_tokens: Option<u32>,
}

impl Sampling {
    /// These settings, and those of `other` where these say nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            temperature: self.temperature.or(other.temperature),
            seed: self.seed.or(other.seed),
            max_tokens: self.max_tokens.or(other.max_tokens),
        }
    }
}

/// One request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatRequest {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools on offer.
    pub tools: Vec<ToolSpec>,
    /// How to draw the reply.
    pub sampling: Sampling,
}

/// Tokens spent by one reply, as the provider counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// It asks for tools.
    ToolCalls,
    /// The token ceiling cut it off.
    Length,
    /// The provider withheld it.
    ContentFilter,
    /// Something else, in the provider's words.
    Other(String),
}

/// One reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatReply {
    /// What it says; may be empty beside calls.
    pub text: String,
    /// What it thought, where the provider says so.
    pub reasoning: Option<String>,
    /// The calls, in order, as the model wrote them.
    pub calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: FinishReason,
    /// What it cost; `None` where the provider does not say.
    pub usage: Option<Usage>,
    /// Provider-specific content that must travel back with this reply (signed thinking blocks);
    /// opaque to everyone but the provider that made it.
    pub opaque: Option<serde_json::Value>,
}

/// A piece of a reply, while it is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// A call began; its name is known, its arguments are not yet complete.
    CallStarted {
        /// The position of the call in the reply.
        index: usize,
        /// The name as the model wrote it.
        name: String,
    },
}

/// A language model.
pub trait Model: fmt::Debug + Send + Sync {
    /// Its name, for people and logs.
    fn name(&self) -> &str;

    /// Those of `tools` that it can't be offered without changing what they accept, with the reason.
    /// A request that has them is still answered; the model is not told of these.
    fn left_out(&self, tools: &[ToolSpec]) -> Vec<LeftOut> {
        let _ = tools;
        Vec::new()
    }

    /// Asks for one reply. `on_delta` hears the pieces as they come, where the provider streams.
    ///
    /// Dropping the future gives the request up.
    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>>;
}

/// A request without a reply. No text in here holds a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider can't be used as configured (no key, a bad address).
    #[error("{0}")]
    Config(String),
    /// The request can't be put on the wire (a call without its result).
    #[error("the request can't be sent: {0}")]
    Request(String),
    /// The provider could not be reached, or broke off.
    #[error("{provider} could not be reached: {message}")]
    Transport {
        /// Which provider.
        provider: String,
        /// What happened.
        message: String,
    },
    /// The provider refused.
    #[error("{provider} answered {status}: {message}")]
    Status {
        /// Which provider.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// What it said, bounded.
        message: String,
        /// When to try again, where it said so.
        retry_after: Option<Duration>,
    },
    /// The provider answered with something that is no reply.
    #[error("{provider} sent no valid reply: {message}")]
    Protocol {
        /// Which provider.
        provider: String,
        /// What was wrong, and where.
        message: String,
    },
    /// No reply in time.
    #[error("{provider} did not answer within {after:?}")]
    TimedOut {
        /// Which provider.
        provider: String,
        /// The limit.
        after: Duration,
    },
    /// A line of a script is no reply, or expected another request.
    #[error("line {line} of the script: {message}")]
    Script {
        /// Which line, from 1.
        line: usize,
        /// What was wrong with it, or with the request.
        message: String,
    },
    /// The script of a scripted model is at its end.
    #[error("the script has {replies} replies, and one more was asked for")]
    ScriptEnded {
        /// How many it had.
        replies: usize,
    },
}
