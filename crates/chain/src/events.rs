//! What a chain tells while it runs.
//!
//! Events come in the order in which things happen. Calls that run side by side finish in any order;
//! `index` says which call of the turn an event is about. The text deltas of a turn, joined, are its
//! text: where a provider does not stream, the whole text comes as one delta.

use model::{FinishReason, Usage};
use serde::{Deserialize, Serialize};
use tool_core::{CallId, ToolResult};

use crate::{ChainMetrics, StopReason};

/// One thing that happened. As JSON: `{"event": "turn_started", "turn": 1}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ChainEvent {
    /// The model is asked.
    TurnStarted {
        /// The turn, from 1.
        turn: u32,
    },
    /// More text of the reply.
    TextDelta {
        /// The turn.
        turn: u32,
        /// The text.
        text: String,
    },
    /// More of the model's reasoning.
    ReasoningDelta {
        /// The turn.
        turn: u32,
        /// The text.
        text: String,
    },
    /// The model begins to write a call. Nothing was decided about it yet.
    CallAnnounced {
        /// The turn.
        turn: u32,
        /// The position of the call in the reply.
        index: usize,
        /// The name as the model wrote it.
        tool: String,
    },
    /// A call was handed to the source of results.
    CallStarted {
        /// The turn.
        turn: u32,
        /// The position of the call in the reply.
        index: usize,
        /// Its id, unique in the conversation.
        call_id: CallId,
        /// The name as the model wrote it.
        tool: String,
        /// The arguments as text, as the model wrote them.
        arguments: String,
    },
    /// A call has its result. Also for a call that was never handed on (cut off, or the chain
    /// stopped); then without a [`Self::CallStarted`] before.
    CallFinished {
        /// The turn.
        turn: u32,
        /// The position of the call in the reply.
        index: usize,
        /// The result.
        result: ToolResult,
    },
    /// All calls of the turn have their results.
    TurnFinished {
        /// The turn.
        turn: u32,
        /// How many calls it had.
        calls: usize,
        /// Why the reply ended.
        finish: FinishReason,
        /// What the reply cost, where the provider says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The oldest exchanges left the context, before the request of the turn.
    Evicted {
        /// The turn.
        turn: u32,
        /// How many exchanges.
        exchanges: usize,
        /// Whether a summary took their place.
        is_summarized: bool,
        /// About how many tokens the next request takes now.
        estimated_tokens: u64,
    },
    /// The chain is at its end. Always the last event.
    Stopped {
        /// Why.
        stop: StopReason,
        /// The numbers of the whole chain.
        metrics: ChainMetrics,
    },
}

/// Hears the events of a chain, on the task that runs it: slow work belongs elsewhere.
pub trait ChainObserver: Send + Sync {
    /// Called for each event.
    fn on_event(&self, event: &ChainEvent);
}

impl<F: Fn(&ChainEvent) + Send + Sync> ChainObserver for F {
    fn on_event(&self, event: &ChainEvent) {
        self(event);
    }
}

/// An observer that hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl ChainObserver for NoObserver {
    fn on_event(&self, _event: &ChainEvent) {}
}
