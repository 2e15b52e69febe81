//! Why a chain stopped: a closed list, each reason with its facts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a chain stopped. As JSON: `{"reason": "max_turns", "max_turns": 8}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum StopReason {
    /// The model answered without a call.
    Answer,
    /// All turns were used, and the model still wanted to go on.
    MaxTurns {
        /// How many there were.
        max_turns: u32,
    },
    /// The tokens of all turns reached the budget.
    TokenBudget {
        /// The budget.
        budget: u64,
        /// What was spent: read and written.
        spent: u64,
    },
    /// The time of the chain was over.
    WallClock {
        /// The budget in milliseconds.
        budget_ms: u64,
    },
    /// The model made the same call turn after turn. In the last of them it was not executed.
    RepeatedCall {
        /// The tool's name.
        tool: String,
        /// The arguments, keys sorted, cut at 512 bytes.
        arguments: String,
        /// How many turns in a row.
        turns: u32,
    },
    /// The model's replies were cut off at their token limit.
    CutOff {
        /// How many in a row.
        replies: u32,
    },
    /// Somebody stopped the chain.
    Cancelled,
    /// The model could not be asked.
    ModelError {
        /// What happened.
        message: String,
        /// The HTTP status, where the model's provider refused with one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
    },
    /// The source of results is broken.
    ProviderError {
        /// What was wrong, where, and what was expected.
        message: String,
    },
    /// The conversation does not fit the context window, and the policy evicts nothing (more).
    ContextFull {
        /// What the next request would take.
        estimated_tokens: u64,
        /// The context window.
        window_tokens: u64,
        /// What of it is reserved for the reply.
        reserve_tokens: u64,
    },
    /// The model's provider withheld the reply.
    ContentFilter {
        /// How many calls the reply had; none was executed.
        calls: u32,
    },
    /// The model replied with nothing at all, also after a reminder.
    EmptyReply {
        /// How many in a row.
        replies: u32,
    },
}

impl StopReason {
    /// The name used in JSON.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::MaxTurns { .. } => "max_turns",
            Self::TokenBudget { .. } => "token_budget",
            Self::WallClock { .. } => "wall_clock",
            Self::RepeatedCall { .. } => "repeated_call",
            Self::CutOff { .. } => "cut_off",
            Self::Cancelled => "cancelled",
            Self::ModelError { .. } => "model_error",
            Self::ProviderError { .. } => "provider_error",
            Self::ContextFull { .. } => "context_full",
            Self::ContentFilter { .. } => "content_filter",
            Self::EmptyReply { .. } => "empty_reply",
        }
    }

    /// Whether the chain came to its natural end.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Answer)
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer => f.write_str("the model answered"),
            Self::MaxTurns { max_turns } => write!(f, "all {max_turns} turns were used"),
            Self::TokenBudget { budget, spent } => {
                write!(f, "{spent} tokens were spent, the budget is {budget}")
            }
            Self::WallClock { budget_ms } => {
                write!(f, "the chain's time of {budget_ms} ms is over")
            }
            Self::RepeatedCall { tool, arguments, turns } => {
                write!(f, "{tool} was called with {arguments} {turns} turns in a row")
            }
            Self::CutOff { replies } => {
                write!(f, "the reply was cut off at its token limit, {replies} in a row")
            }
            Self::Cancelled => f.write_str("cancelled"),
            Self::ModelError { message, .. } => write!(f, "the model failed: {message}"),
            Self::ProviderError { message } => write!(f, "no result could be had: {message}"),
            Self::ContextFull { estimated_tokens, window_tokens, reserve_tokens } => write!(
                f,
                "the conversation takes about {estimated_tokens} tokens, and the context window \
                 has {window_tokens} with {reserve_tokens} reserved for the reply"
            ),
            Self::ContentFilter { .. } => f.write_str("the provider withheld the reply"),
            Self::EmptyReply { replies } => {
                write!(f, "the reply had neither text nor calls, {replies} in a row")
            }
        }
    }
}
