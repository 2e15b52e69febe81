//! The ceilings of a chain: turns, tokens, time, and how much getting nowhere is borne.
//!
//! A value that makes no sense (zero, or beyond every use) is refused where it is set, by the name of
//! the config key, so that no chain starts with it.

use std::time::Duration;

/// The ceilings of one chain.
///
/// ```
/// use chain::ChainLimits;
/// let limits = ChainLimits::default().with_max_turns(3)?.with_token_budget(50_000)?;
/// assert_eq!(limits.max_turns(), 3);
/// let error = ChainLimits::default().with_max_turns(0).unwrap_err();
/// assert_eq!(error.to_string(), "max_turns is 0, and must be from 1 to 64");
/// # Ok::<(), chain::ChainLimitsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainLimits {
    max_turns: u32,
    token_budget: Option<u64>,
    wall_clock: Option<Duration>,
    repeat_limit: u32,
    cut_off_limit: u32,
}

/// A ceiling that can't be honoured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} is {given}, and must be from {least} to {most}")]
pub struct ChainLimitsError {
    /// The key in the configuration.
    pub key: &'static str,
    given: u128,
    least: u64,
    most: u64,
}

impl Default for ChainLimits {
    /// 8 turns, no budget of tokens or time, 3 repeated calls, 2 replies cut off.
    fn default() -> Self {
        Self {
            max_turns: 8,
            token_budget: None,
            wall_clock: None,
            repeat_limit: 3,
            cut_off_limit: 2,
        }
    }
}

impl ChainLimits {
    /// The most turns of a chain.
    pub const MAX_TURNS: u32 = 64;
    /// The largest token budget.
    pub const MAX_TOKEN_BUDGET: u64 = 1_000_000_000_000;
    /// The longest wall-clock budget: seven days.
    pub const MAX_WALL_CLOCK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

    /// The same limits with another number of turns, 1 to 64.
    ///
    /// # Errors
    /// A number out of that range.
    pub fn with_max_turns(mut self, turns: u32) -> Result<Self, ChainLimitsError> {
        self.max_turns = bounded("max_turns", turns, 1, Self::MAX_TURNS)?;
        Ok(self)
    }

    /// The same limits with a budget for the tokens read and written by all turns together.
    ///
    /// # Errors
    /// Zero, or more than [`Self::MAX_TOKEN_BUDGET`].
    pub fn with_token_budget(mut self, tokens: u64) -> Result<Self, ChainLimitsError> {
        self.token_budget = Some(bounded("token_budget", tokens, 1, Self::MAX_TOKEN_BUDGET)?);
        Ok(self)
    }

    /// The same limits with a budget of time for the whole chain.
    ///
    /// # Errors
    /// Less than a millisecond, or more than [`Self::MAX_WALL_CLOCK`].
    pub fn with_wall_clock(mut self, budget: Duration) -> Result<Self, ChainLimitsError> {
        let most = u64::try_from(Self::MAX_WALL_CLOCK.as_millis()).unwrap_or(u64::MAX);
        let given = budget.as_millis();
        if given == 0 || given > u128::from(most) {
            return Err(ChainLimitsError { key: "wall_clock_ms", given, least: 1, most });
        }
        self.wall_clock = Some(budget);
        Ok(self)
    }

    /// The same limits with another number of turns in a row that may make the same call; in the last
    /// of them the call is not executed, and the chain stops. 2 to 64.
    ///
    /// # Errors
    /// A number out of that range.
    pub fn with_repeat_limit(mut self, turns: u32) -> Result<Self, ChainLimitsError> {
        self.repeat_limit = bounded("repeat_limit", turns, 2, Self::MAX_TURNS)?;
        Ok(self)
    }

    /// The same limits with another number of replies in a row that were cut off, 1 to 64.
    ///
    /// # Errors
    /// A number out of that range.
    pub fn with_cut_off_limit(mut self, replies: u32) -> Result<Self, ChainLimitsError> {
        self.cut_off_limit = bounded("cut_off_limit", replies, 1, Self::MAX_TURNS)?;
        Ok(self)
    }

    /// The most turns.
    #[must_use]
    pub fn max_turns(&self) -> u32 {
        self.max_turns
    }

    /// The token budget, where there is one.
    #[must_use]
    pub fn token_budget(&self) -> Option<u64> {
        self.token_budget
    }

    /// The wall-clock budget, where there is one.
    #[must_use]
    pub fn wall_clock(&self) -> Option<Duration> {
        self.wall_clock
    }

    /// After how many turns in a row with the same call the chain stops.
    #[must_use]
    pub fn repeat_limit(&self) -> u32 {
        self.repeat_limit
    }

    /// After how many replies in a row that were cut off the chain stops.
    #[must_use]
    pub fn cut_off_limit(&self) -> u32 {
        self.cut_off_limit
    }
}

/// `given`, where it is in the range.
pub(crate) fn bounded<T>(
    key: &'static str,
    given: T,
    least: T,
    most: T,
) -> Result<T, ChainLimitsError>
where
    T: Copy + PartialOrd + Into<u64>,
{
    if given < least || given > most {
        let (given, least, most) = (u128::from(given.into()), least.into(), most.into());
        return Err(ChainLimitsError { key, given, least, most });
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_and_the_absurd_are_refused() {
        let limits = ChainLimits::default();
        assert!(limits.with_max_turns(64).is_ok());
        for refused in [
            limits.with_max_turns(0),
            limits.with_max_turns(65),
            limits.with_token_budget(0),
            limits.with_token_budget(u64::MAX),
            limits.with_wall_clock(Duration::ZERO),
            limits.with_wall_clock(Duration::MAX),
            limits.with_repeat_limit(1),
            limits.with_cut_off_limit(0),
        ] {
            assert!(refused.unwrap_err().to_string().contains("must be from"));
        }
    }
}
