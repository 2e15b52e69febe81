//! How a child ended.

use serde::{Deserialize, Serialize};

use crate::Limit;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// It ended by itself, with this exit code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It reached a limit.
    LimitExceeded(Limit),
}

/// The end of a child. When there is one, nothing that the child started runs any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct End {
    /// How the program ended.
    pub outcome: Outcome,
}
