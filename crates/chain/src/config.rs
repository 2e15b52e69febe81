//! The chain's section of the configuration, `[chain]`: plain values, checked when they are used.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ChainLimits, ChainLimitsError, ContextPolicy, ContextPolicyError, Eviction};

/// The section `[chain]`.
///
/// ```
/// let config = chain::ChainConfig { max_turns: 3, ..chain::ChainConfig::default() };
/// assert_eq!(config.limits()?.max_turns(), 3);
///
/// let config = chain::ChainConfig { repeat_limit: 0, ..config };
/// let error = config.limits().unwrap_err();
/// assert_eq!(error.to_string(), "repeat_limit is 0, and must be from 2 to 64");
/// # Ok::<(), chain::ChainConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChainConfig {
    /// The most turns of a chain, 1 to 64.
    #[schemars(range(min = 1, max = 64))]
    pub max_turns: u32,
    /// The tokens that all turns together may read and write. Absent: no budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub token_budget: Option<u64>,
    /// The time for the whole chain, in milliseconds; at most seven days. Absent: no budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 604_800_000))]
    pub wall_clock_ms: Option<u64>,
    /// The chain stops when the same call is made in so many turns in a row, 2 to 64.
    #[schemars(range(min = 2, max = 64))]
    pub repeat_limit: u32,
    /// The chain stops when so many replies in a row are cut off at their token limit, 1 to 64.
    #[schemars(range(min = 1, max = 64))]
    pub cut_off_limit: u32,
    /// The model's context window in tokens. Absent: not known, so nothing is evicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 64, max = 1_000_000_000))]
    pub context_window_tokens: Option<u64>,
    /// How much of the context window is kept free for the reply, in tokens.
    pub context_reserve_tokens: u64,
    /// How many of the newest exchanges are always kept, 1 to 64.
    #[schemars(range(min = 1, max = 64))]
    pub keep_exchanges: usize,
    /// What happens to the oldest exchanges when the conversation does not fit.
    pub eviction: Eviction,
}

/// A value of the section that can't be used; the text names its key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainConfigError {
    /// A limit.
    #[error(transparent)]
    Limits(#[from] ChainLimitsError),
    /// The context policy.
    #[error(transparent)]
    Context(#[from] ContextPolicyError),
}

impl Default for ChainConfig {
    fn default() -> Self {
        let (limits, policy) = (ChainLimits::default(), ContextPolicy::default());
        Self {
            max_turns: limits.max_turns(),
            token_budget: None,
            wall_clock_ms: None,
            repeat_limit: limits.repeat_limit(),
            cut_off_limit: limits.cut_off_limit(),
            context_window_tokens: None,
            context_reserve_tokens: 1024,
            keep_exchanges: policy.keep_exchanges(),
            eviction: policy.eviction(),
        }
    }
}

impl ChainConfig {
    /// The limits.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn limits(&self) -> Result<ChainLimits, ChainConfigError> {
        let mut limits = ChainLimits::default()
            .with_max_turns(self.max_turns)?
            .with_repeat_limit(self.repeat_limit)?
            .with_cut_off_limit(self.cut_off_limit)?;
        if let Some(tokens) = self.token_budget {
            limits = limits.with_token_budget(tokens)?;
        }
        if let Some(budget) = self.wall_clock_ms {
            limits = limits.with_wall_clock(Duration::from_millis(budget))?;
        }
        Ok(limits)
    }

    /// The context policy.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn context_policy(&self) -> Result<ContextPolicy, ChainConfigError> {
        let policy = ContextPolicy::default()
            .with_keep_exchanges(self.keep_exchanges)?
            .with_eviction(self.eviction);
        match self.context_window_tokens {
            Some(tokens) => Ok(policy.with_window(tokens, self.context_reserve_tokens)?),
            None => Ok(policy),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> Result<ChainConfig, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_are_the_types_defaults() {
        let config = read(json!({})).unwrap();
        assert_eq!(config, ChainConfig::default());
        assert_eq!(config.limits(), Ok(ChainLimits::default()));
        assert_eq!(config.context_policy(), Ok(ContextPolicy::default()));
        let written = serde_json::to_value(&config).unwrap();
        assert_eq!(read(written), Ok(config));
    }

    #[test]
    fn unknown_keys_are_refused() {
        let error = read(json!({"max_turn": 3})).unwrap_err();
        assert!(error.contains("max_turn") && error.contains("max_turns"), "{error}");
    }

    #[test]
    fn bad_values_are_refused_by_the_name_of_their_key() {
        let check = |key: &str, value: Value| {
            let mut section = json!({"context_window_tokens": 8000});
            section[key] = value;
            let config = read(section).unwrap();
            let limits = config.limits().map(|_| ());
            let error = limits.and(config.context_policy().map(|_| ())).unwrap_err();
            assert!(error.to_string().starts_with(&format!("{key} is ")), "{error}");
        };
        check("max_turns", json!(0));
        check("max_turns", json!(65));
        check("token_budget", json!(0));
        check("wall_clock_ms", json!(0));
        check("wall_clock_ms", json!(u64::MAX));
        check("repeat_limit", json!(1));
        check("cut_off_limit", json!(0));
        check("context_window_tokens", json!(10));
        check("context_reserve_tokens", json!(8000));
        check("keep_exchanges", json!(0));
    }

    #[test]
    fn the_schema_allows_the_defaults_and_no_other_key() {
        let schema = schemars::schema_for!(ChainConfig);
        assert_eq!(schema.get("additionalProperties"), Some(&json!(false)));
        let properties = schema.get("properties").and_then(Value::as_object).unwrap();
        assert_eq!(properties.len(), 9);
        assert_eq!(properties["max_turns"]["default"], json!(8));
    }
}
