//! How a query ended, for its caller and within its loop.

use std::time::Duration;

use serde_json::Value;

use super::{Spent, StopReason, ask::AskError};
use crate::SessionError;

/// How a query ended.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryOutcome {
    /// Why.
    pub stop: StopReason,
    /// The answer; where the reason is another, what there is of one, or null.
    pub answer: Value,
    /// What stood in the way.
    pub message: Option<String>,
    /// What it and all below it spent.
    pub spent: Spent,
    /// Its turns.
    pub turns: u64,
    /// How many levels of queries were below it.
    pub levels_below: u64,
    /// How long it took.
    pub duration: Duration,
}

/// How the loop ended.
pub(super) struct End {
    pub(super) stop: StopReason,
    pub(super) answer: Value,
    pub(super) message: Option<String>,
}

impl End {
    pub(super) fn because(stop: StopReason) -> Self {
        Self { stop, answer: Value::Null, message: None }
    }
}

impl From<AskError> for End {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Stopped(stop) => Self::because(stop),
            AskError::Model(message) => {
                Self { message: Some(message), ..Self::because(StopReason::ModelError) }
            }
        }
    }
}

impl From<SessionError> for End {
    fn from(error: SessionError) -> Self {
        Self { message: Some(error.to_string()), ..Self::because(StopReason::ModelError) }
    }
}
