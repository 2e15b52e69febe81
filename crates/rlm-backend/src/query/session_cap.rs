//! What all queries of one session may take together.
//!
//! A query in a session of a caller gets what its own budget says, and at most what the queries before
//! it have left of the session's. Queries run one at a time in a session, so what is left can't be taken
//! twice. A query with a session of its own is the only one in it, and has its own budget alone.

use std::time::Duration;

use serde::Serialize;

use super::{QueryConfig, SessionUse, budget::Allowance};

/// What is left for the next query of a session; nothing where it is not bounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SessionLeft {
    /// Tokens, read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Time in which queries run, in milliseconds; a session that is idle spends none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Sub-calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_calls: Option<u64>,
    /// Cost, in millionths of the currency of the prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl SessionLeft {
    pub(super) fn of(config: &QueryConfig, used: &SessionUse) -> Self {
        let left = |most: u64, used: u64| (most > 0).then(|| most.saturating_sub(used));
        let time_ms = u64::try_from(used.time.as_millis()).unwrap_or(u64::MAX);
        Self {
            tokens: left(config.session_max_tokens, used.spent.tokens()),
            time_ms: left(config.session_time_secs.saturating_mul(1000), time_ms),
            sub_calls: left(config.session_max_sub_calls, used.spent.sub_calls),
            cost_micros: left(config.session_max_cost_micros, used.spent.cost_micros),
        }
    }

    /// The setting of which nothing is left, without which no query can begin.
    pub(super) fn ended(&self) -> Option<&'static str> {
        let needed = [
            ("session_max_tokens", self.tokens),
            ("session_time_secs", self.time_ms),
            ("session_max_cost_micros", self.cost_micros),
        ];
        needed.into_iter().find(|(_, left)| *left == Some(0)).map(|(key, _)| key)
    }

    /// A query's own budget, as far as there is so much left.
    pub(super) fn bound(&self, own: Allowance, time: Duration) -> (Allowance, Duration) {
        let least = |own: u64, left: Option<u64>| left.map_or(own, |left| own.min(left));
        let allowance = Allowance {
            tokens: least(own.tokens, self.tokens),
            sub_calls: least(own.sub_calls, self.sub_calls),
            cost_micros: [own.cost_micros, self.cost_micros].into_iter().flatten().min(),
        };
        let left = self.time_ms.map_or(Duration::MAX, Duration::from_millis);
        (allowance, time.min(left))
    }
}
