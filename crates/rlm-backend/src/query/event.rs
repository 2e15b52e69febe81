//! What happens in a query, step by step, for trajectories and for people who watch.

use std::fmt;

use model::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Spent, StopReason};

/// A step, with when it happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryRecord {
    /// Milliseconds since the first query of the tree began.
    pub at_ms: f64,
    /// The step.
    #[serde(flatten)]
    pub event: QueryEvent,
}

/// A step of a query. `query` numbers the queries of a tree; the first is 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum QueryEvent {
    /// A query begins.
    Begin {
        /// Which.
        query: u64,
        /// The query whose code asked for it.
        parent: Option<u64>,
        /// How many queries are above it.
        depth: u64,
        /// The question, bounded.
        prompt: String,
        /// Type and size of the context; null without one.
        context: Value,
        /// The model that works on it.
        model: String,
        /// What it may spend.
        allowance: Value,
    },
    /// The model replied.
    Turn {
        /// In which query.
        query: u64,
        /// The turn, from 1.
        turn: u64,
        /// The model.
        model: String,
        /// A digest of what it was asked.
        digest: String,
        /// What it said.
        reply: String,
        /// Whether its length was bounded by the provider.
        is_cut: bool,
        /// What it took.
        usage: Usage,
        /// How long it took.
        ms: f64,
        /// Whether the reply is that of an earlier run.
        is_replayed: bool,
    },
    /// A block of code ran.
    Block {
        /// In which query.
        query: u64,
        /// In which turn.
        turn: u64,
        /// The block of the turn, from 1.
        block: u64,
        /// `python` or `bash`.
        language: String,
        /// The code.
        code: String,
        /// What the model reads of it.
        output: String,
        /// Whether it ended well.
        is_ok: bool,
        /// How long it took, its sub-calls with it.
        ms: f64,
    },
    /// Code asks a model; only for those who watch.
    Asking {
        /// In which query.
        query: u64,
    },
    /// A sub-call of code has ended.
    Call {
        /// In which query.
        query: u64,
        /// In which turn.
        turn: u64,
        /// The model, or the tool.
        target: String,
        /// Whether it is a tool.
        is_tool: bool,
        /// A digest of what was asked.
        digest: String,
        /// What was asked, bounded.
        prompt: String,
        /// How many characters that has.
        prompt_chars: u64,
        /// What was answered.
        reply: Option<String>,
        /// Why nothing was.
        error: Option<Problem>,
        /// What it took.
        usage: Usage,
        /// When it began, in milliseconds since the first query began.
        began_ms: f64,
        /// How long it took.
        ms: f64,
        /// Whether the reply is that of an earlier run.
        is_replayed: bool,
    },
    /// The model is told something beside outputs.
    Note {
        /// In which query.
        query: u64,
        /// In which turn.
        turn: u64,
        /// What.
        text: String,
    },
    /// A query has ended.
    End {
        /// Which.
        query: u64,
        /// Why.
        stop: StopReason,
        /// The answer, or what there is of one.
        answer: Value,
        /// What stood in the way.
        message: Option<String>,
        /// What it and all below it spent.
        spent: Spent,
        /// Its turns.
        turns: u64,
        /// How long it took.
        ms: f64,
    },
}

/// Why something has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// A word for programs.
    pub kind: String,
    /// A text for people and models.
    pub message: String,
}

/// Somebody who watches a tree of queries. Called from the task of a query, which waits: it must not
/// block for long.
pub trait QueryObserver: fmt::Debug + Send + Sync {
    /// Takes the next step.
    fn observe(&self, record: &QueryRecord);
}

/// Sees nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl QueryObserver for NoObserver {
    fn observe(&self, _record: &QueryRecord) {}
}
