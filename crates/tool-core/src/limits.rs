//! Ceilings for one call: time, bytes of arguments, bytes of output.
//!
//! Limits compose downwards: the smallest of what a call asks for, what its tool is configured for
//! and what the operator set wins, and the result names the one that did. A zero is refused, and so
//! is a value that no other part can carry.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// A number of bytes.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ByteCount(pub u64);

impl ByteCount {
    /// As an index or capacity; saturates where `usize` is smaller.
    #[must_use]
    pub fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl From<usize> for ByteCount {
    fn from(bytes: usize) -> Self {
        Self(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}

/// Who set the limit that ended a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitSource {
    /// The call itself, with its `timeout_ms` argument.
    Call,
    /// The tool's own ceiling, from its configuration.
    Tool,
    /// The operator, for every call (`--exec-timeout-ms`, `[limits] timeout_ms`).
    Operator,
    /// Nobody: the built-in default.
    Default,
}

impl fmt::Display for LimitSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Call => "the call's timeout_ms",
            Self::Tool => "the tool's ceiling",
            Self::Operator => "the operator's limit",
            Self::Default => "the default limit",
        })
    }
}

/// A timeout, and who set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout {
    /// How long.
    pub after: Duration,
    /// By whom.
    pub source: LimitSource,
}

impl Timeout {
    /// The smaller of the two; `self` where they are equal.
    #[must_use]
    pub fn min(self, other: Option<Self>) -> Self {
        match other {
            Some(other) if other.after < self.after => other,
            _ => self,
        }
    }
}

/// The ceilings of one call.
///
/// ```
/// use tool_core::{ByteCount, Limits};
/// let limits = Limits::default();
/// assert_eq!(limits.max_args(), ByteCount(8192));
/// assert!(Limits::default().with_max_args(ByteCount(0)).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    timeout: Timeout,
    is_timeout_set: bool,
    max_args: ByteCount,
    max_output: ByteCount,
}

/// A limit that cannot be honoured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{limit} is {given}, and must be from {least} to {most} {unit}")]
pub struct LimitsError {
    limit: &'static str,
    given: u128,
    least: u64,
    most: u64,
    unit: &'static str,
}

impl Default for Limits {
    /// 5 s, 8 KiB of arguments, 64 KiB of output.
    fn default() -> Self {
        Self {
            timeout: Timeout { after: Duration::from_secs(5), source: LimitSource::Default },
            is_timeout_set: false,
            max_args: ByteCount(8 * 1024),
            max_output: ByteCount(64 * 1024),
        }
    }
}

impl Limits {
    /// The longest timeout: a day.
    pub const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);
    /// The largest argument ceiling: 16 MiB, which every reader of calls can carry.
    pub const MAX_ARGS: ByteCount = ByteCount(16 * 1024 * 1024);
    /// The largest output ceiling: 64 MiB, which every reader of results can carry.
    pub const MAX_OUTPUT: ByteCount = ByteCount(64 * 1024 * 1024);

    /// The same limits with the operator's timeout.
    ///
    /// # Errors
    /// A timeout of less than a millisecond or of more than [`Self::MAX_TIMEOUT`].
    pub fn with_timeout(mut self, after: Duration) -> Result<Self, LimitsError> {
        let most = u64::try_from(Self::MAX_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        let given = after.as_millis();
        if given == 0 || given > u128::from(most) {
            return Err(LimitsError { limit: "timeout", given, least: 1, most, unit: "ms" });
        }
        self.timeout = Timeout { after, source: LimitSource::Operator };
        self.is_timeout_set = true;
        Ok(self)
    }

    /// The same limits with another ceiling for arguments.
    ///
    /// # Errors
    /// Zero, or more than [`Self::MAX_ARGS`].
    pub fn with_max_args(mut self, max: ByteCount) -> Result<Self, LimitsError> {
        self.max_args = Self::bounded("argument size", max, Self::MAX_ARGS)?;
        Ok(self)
    }

    /// The same limits with another ceiling for output.
    ///
    /// # Errors
    /// Zero, or more than [`Self::MAX_OUTPUT`].
    pub fn with_max_output(mut self, max: ByteCount) -> Result<Self, LimitsError> {
        self.max_output = Self::bounded("output size", max, Self::MAX_OUTPUT)?;
        Ok(self)
    }

    fn bounded(
        limit: &'static str,
        given: ByteCount,
        most: ByteCount,
    ) -> Result<ByteCount, LimitsError> {
        if given.0 == 0 || given > most {
            let (given, most) = (u128::from(given.0), most.0);
            return Err(LimitsError { limit, given, least: 1, most, unit: "bytes" });
        }
        Ok(given)
    }

    /// The operator's timeout, or the default of 5 s.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout.after
    }

    /// The ceiling of stage 3.
    #[must_use]
    pub fn max_args(&self) -> ByteCount {
        self.max_args
    }

    /// The ceiling of stage 6.
    #[must_use]
    pub fn max_output(&self) -> ByteCount {
        self.max_output
    }

    /// The timeout of one call: the smallest of what the call asks for, its tool's ceiling and the
    /// operator's limit. The default counts only where neither a tool nor an operator says anything.
    #[must_use]
    pub fn timeout_for(&self, tool: Option<Duration>, call: Option<Duration>) -> Timeout {
        let tool = tool.map(|after| Timeout { after, source: LimitSource::Tool });
        let call = call.map(|after| Timeout { after, source: LimitSource::Call });
        let ceiling = match tool {
            Some(tool) if !self.is_timeout_set => tool,
            tool => self.timeout.min(tool),
        };
        ceiling.min(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_and_the_absurd_are_refused() {
        let limits = Limits::default();
        assert!(limits.with_timeout(Duration::ZERO).is_err());
        assert!(limits.with_timeout(Duration::MAX).is_err());
        assert!(limits.with_max_args(ByteCount(0)).is_err());
        assert!(limits.with_max_output(ByteCount(0)).is_err());
        let error = limits.with_max_output(ByteCount(u64::MAX)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "output size is 18446744073709551615, and must be from 1 to 67108864 bytes"
        );
    }

    #[test]
    fn the_smallest_timeout_wins_and_is_named() {
        let (ms, s) = (Duration::from_millis, Duration::from_secs);
        let default = Limits::default();
        let set = default.with_timeout(s(2)).unwrap();
        let check = |limits: Limits, tool, call, after, source| {
            assert_eq!(limits.timeout_for(tool, call), Timeout { after, source });
        };
        check(default, None, None, s(5), LimitSource::Default);
        check(default, Some(s(120)), None, s(120), LimitSource::Tool);
        check(default, Some(s(120)), Some(s(7)), s(7), LimitSource::Call);
        check(default, None, Some(s(7)), s(5), LimitSource::Default);
        check(set, Some(s(120)), None, s(2), LimitSource::Operator);
        check(set, Some(ms(100)), Some(s(1)), ms(100), LimitSource::Tool);
    }
}
