//! Why a query ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a query ended. Only the first two come with an answer that the model gave as one; after the
/// others there is what it had written down until then, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// It answered with a value.
    Final,
    /// It answered with a variable.
    FinalVar,
    /// It took as many turns as it may.
    MaxIterations,
    /// Its tokens are spent, or too few are left for a turn.
    TokenBudget,
    /// Its time is over.
    TimeBudget,
    /// It went on asking for queries deeper than they may be.
    Depth,
    /// It went on asking for more sub-calls than there may be.
    SubCalls,
    /// What it may cost is spent.
    CostBudget,
    /// The caller does not want it any more.
    Cancelled,
    /// A model, or the session, can't be had any more.
    ModelError,
    /// Two turns in a row had neither code nor an answer.
    NoProgress,
}

impl StopReason {
    /// Whether the model gave an answer.
    #[must_use]
    pub fn is_answer(self) -> bool {
        matches!(self, Self::Final | Self::FinalVar)
    }

    /// Its name, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Final => "final",
            Self::FinalVar => "final_var",
            Self::MaxIterations => "max_iterations",
            Self::TokenBudget => "token_budget",
            Self::TimeBudget => "time_budget",
            Self::Depth => "depth",
            Self::SubCalls => "sub_calls",
            Self::CostBudget => "cost_budget",
            Self::Cancelled => "cancelled",
            Self::ModelError => "model_error",
            Self::NoProgress => "no_progress",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
