//! `[query]`: what an operator can set of recursive queries, and what of it makes no sense.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tool_core::OutOfRange;

use super::budget::Allowance;

const DAY: u64 = 24 * 60 * 60;

/// `[query]`: recursive queries. The model is that of `[model]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueryConfig {
    /// The model that sub-calls ask, at the same provider; the model of `[model]` where absent.
    pub leaf_model: Option<String>,
    /// More models of the same provider that a query or its code may ask for by name.
    pub models: Vec<String>,
    /// The tokens of a query and all below it, read and written.
    pub max_tokens: u64,
    /// The time of a query, in seconds, however it is spent.
    pub time_secs: u64,
    /// How many levels of queries may be below the first.
    pub max_depth: u64,
    /// The most turns of one query.
    pub max_iterations: u64,
    /// The most sub-calls of a query and all below it.
    pub max_sub_calls: u64,
    /// How many sub-calls are with a model at once.
    pub concurrency: u64,
    /// How much of every 100 that is left a sub-query gets.
    pub child_share_percent: u64,
    /// How many characters of a block's output the model reads; the rest is left out in the middle.
    pub output_chars: u64,
    /// From how many tokens on, by estimate, old outputs are left out of the conversation; 0: never.
    pub compact_at_tokens: u64,
    /// Up to how many bytes a file is loaded as a text; a larger one is mapped.
    pub max_text_bytes: u64,
    /// A file with other instructions for the model than the built-in ones.
    pub system_prompt: Option<PathBuf>,
    /// Prices of models by their names, for `max_cost_micros` and reports.
    pub prices: BTreeMap<String, Price>,
    /// What a query may cost, in millionths of the currency of the prices; 0: not bounded.
    pub max_cost_micros: u64,
    /// The tokens of all queries in one session together; 0: not bounded.
    pub session_max_tokens: u64,
    /// The time of all queries in one session together, in seconds; 0: not bounded.
    pub session_time_secs: u64,
    /// The sub-calls of all queries in one session together; 0: not bounded.
    pub session_max_sub_calls: u64,
    /// What all queries in one session may cost together; 0: not bounded.
    pub session_max_cost_micros: u64,
}

/// What a model costs, in millionths of a currency for a million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Price {
    /// For tokens that it reads.
    pub input_micros: u64,
    /// For tokens that it writes.
    pub output_micros: u64,
}

impl Price {
    pub(super) fn of(self, input_tokens: u64, output_tokens: u64) -> u64 {
        let cost = u128::from(input_tokens) * u128::from(self.input_micros)
            + u128::from(output_tokens) * u128::from(self.output_micros);
        u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

impl Default for QueryConfig {
    fn default() -> Self {
        Self {
            leaf_model: None,
            models: Vec::new(),
            max_tokens: 100_000,
            time_secs: 300,
            max_depth: 1,
            max_iterations: 30,
            max_sub_calls: 1000,
            concurrency: 8,
            child_share_percent: 50,
            output_chars: 20_000,
            compact_at_tokens: 64_000,
            max_text_bytes: 256 << 20,
            system_prompt: None,
            prices: BTreeMap::new(),
            max_cost_micros: 0,
            session_max_tokens: 1_000_000,
            session_time_secs: 3600,
            session_max_sub_calls: 10_000,
            session_max_cost_micros: 0,
        }
    }
}

/// A section that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QueryConfigError {
    /// A number of zero, or an absurd one.
    #[error(transparent)]
    Range(#[from] OutOfRange),
    /// A bound on the cost where a model has no price.
    #[error("a bound on the cost needs a price of {model:?} in prices")]
    NoPrice {
        /// The model.
        model: String,
    },
    /// A prompt that can't be read.
    #[error("system_prompt: {path:?}: {message}")]
    Prompt {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

impl QueryConfigError {
    /// The key of the section whose value is to be mended.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Range(number) => number.key,
            Self::NoPrice { .. } => "prices",
            Self::Prompt { .. } => "system_prompt",
        }
    }
}

impl QueryConfig {
    /// Checks every number.
    ///
    /// # Errors
    ///
    /// The first that can't be used.
    pub fn check(&self) -> Result<(), QueryConfigError> {
        let ranges = [
            ("max_tokens", self.max_tokens, 1, 1 << 40),
            ("time_secs", self.time_secs, 1, DAY),
            ("max_depth", self.max_depth, 0, 10),
            ("max_iterations", self.max_iterations, 1, 1000),
            ("max_sub_calls", self.max_sub_calls, 0, 1 << 30),
            ("concurrency", self.concurrency, 1, 256),
            ("child_share_percent", self.child_share_percent, 1, 100),
            ("output_chars", self.output_chars, 200, 1 << 20),
            ("compact_at_tokens", self.compact_at_tokens, 0, 1 << 30),
            ("max_text_bytes", self.max_text_bytes, 1, 1 << 40),
            ("max_cost_micros", self.max_cost_micros, 0, 1 << 50),
            ("session_max_tokens", self.session_max_tokens, 0, 1 << 40),
            ("session_time_secs", self.session_time_secs, 0, 30 * DAY),
            ("session_max_sub_calls", self.session_max_sub_calls, 0, 1 << 30),
            ("session_max_cost_micros", self.session_max_cost_micros, 0, 1 << 50),
        ];
        Ok(OutOfRange::check(&ranges)?)
    }

    /// The time of a query.
    #[must_use]
    pub fn time(&self) -> Duration {
        Duration::from_secs(self.time_secs)
    }

    pub(super) fn allowance(&self) -> Allowance {
        let cost_micros = (self.max_cost_micros > 0).then_some(self.max_cost_micros);
        Allowance { tokens: self.max_tokens, sub_calls: self.max_sub_calls, cost_micros }
    }

    pub(super) fn price(&self, model: &str) -> Price {
        self.prices.get(model).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absurd_number_is_refused_and_names_its_key() {
        type Set = fn(&mut QueryConfig, u64);
        let keys: [(&str, Set); 8] = [
            ("max_tokens", |config, value| config.max_tokens = value),
            ("time_secs", |config, value| config.time_secs = value),
            ("max_iterations", |config, value| config.max_iterations = value),
            ("concurrency", |config, value| config.concurrency = value),
            ("child_share_percent", |config, value| config.child_share_percent = value),
            ("output_chars", |config, value| config.output_chars = value),
            ("max_text_bytes", |config, value| config.max_text_bytes = value),
            ("max_depth", |config, value| config.max_depth = value.max(11)),
        ];
        for (key, set) in keys {
            for value in [0, u64::MAX] {
                let mut config = QueryConfig::default();
                set(&mut config, value);
                assert_eq!(config.check().unwrap_err().key(), key);
            }
        }
        QueryConfig::default().check().unwrap();
    }

    #[test]
    fn a_price_is_exact_and_rounded_up() {
        let price = Price { input_micros: 75_000, output_micros: 300_000 };
        assert_eq!(price.of(1_000_000, 1_000_000), 375_000);
        assert_eq!(price.of(1, 0), 1);
        let dear = Price { input_micros: u64::MAX, output_micros: 0 };
        assert_eq!(dear.of(u64::MAX, 0), u64::MAX);
    }
}
