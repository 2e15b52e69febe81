//! The sections `[limits]` and `[audit]`.

use std::{path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_core::{ByteCount, Limits, LimitsError};

use crate::PoolConfig;

/// `[limits]`: the ceilings of a call, and of the threads that executors block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// The time of one call, in milliseconds. Without it, a tool's own ceiling counts, or 5000.
    pub timeout_ms: Option<u64>,
    /// The most bytes of one call's arguments.
    pub max_args_bytes: u64,
    /// The most bytes of one call's output.
    pub max_output_bytes: u64,
    /// Calls that run side by side.
    pub jobs: usize,
    /// Threads for executors that block.
    pub executor_threads: usize,
    /// Threads that may hang in calls that were given up before further calls are refused.
    pub max_abandoned_threads: usize,
    /// Calls that may wait for a thread.
    pub max_queued_calls: usize,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let (limits, pool) = (Limits::default(), PoolConfig::default());
        Self {
            timeout_ms: None,
            max_args_bytes: limits.max_args().0,
            max_output_bytes: limits.max_output().0,
            jobs: 1,
            executor_threads: pool.threads,
            max_abandoned_threads: pool.max_abandoned,
            max_queued_calls: pool.max_queued,
        }
    }
}

/// A value of `[limits]` that can't be honoured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitsConfigError {
    /// A ceiling of a call.
    #[error("{source}")]
    Ceiling {
        /// The key, with its section.
        key: &'static str,
        /// What is wrong with its value.
        #[source]
        source: LimitsError,
    },
    /// A number of threads or calls.
    #[error("{given} must be from {least} to {most}")]
    Count {
        /// The key, with its section.
        key: &'static str,
        /// Its value.
        given: usize,
        /// The smallest that is accepted.
        least: usize,
        /// The largest that is accepted.
        most: usize,
    },
}

impl LimitsConfigError {
    /// The key that is wrong, with its section.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Ceiling { key, .. } | Self::Count { key, .. } => key,
        }
    }
}

impl LimitsConfig {
    /// The ceilings of a call.
    ///
    /// # Errors
    /// Zero, or a value that some part can't carry.
    pub fn limits(&self) -> Result<Limits, LimitsConfigError> {
        let at = |key| move |source| LimitsConfigError::Ceiling { key, source };
        let mut limits = Limits::default()
            .with_max_args(ByteCount(self.max_args_bytes))
            .map_err(at("limits.max_args_bytes"))?
            .with_max_output(ByteCount(self.max_output_bytes))
            .map_err(at("limits.max_output_bytes"))?;
        if let Some(ms) = self.timeout_ms {
            limits =
                limits.with_timeout(Duration::from_millis(ms)).map_err(at("limits.timeout_ms"))?;
        }
        Ok(limits)
    }

    /// The bounds of the pool of threads.
    ///
    /// # Errors
    /// Zero, or more than a machine can be expected to have.
    pub fn pool(&self) -> Result<PoolConfig, LimitsConfigError> {
        Ok(PoolConfig {
            threads: count("limits.executor_threads", self.executor_threads, 1, 512)?,
            max_abandoned: count(
                "limits.max_abandoned_threads",
                self.max_abandoned_threads,
                1,
                4096,
            )?,
            max_queued: count("limits.max_queued_calls", self.max_queued_calls, 1, 1_000_000)?,
        })
    }

    /// How many calls run side by side.
    ///
    /// # Errors
    /// Zero, or more than 1024.
    pub fn jobs(&self) -> Result<usize, LimitsConfigError> {
        count("limits.jobs", self.jobs, 1, 1024)
    }
}

fn count(
    key: &'static str,
    given: usize,
    least: usize,
    most: usize,
) -> Result<usize, LimitsConfigError> {
    if (least..=most).contains(&given) {
        Ok(given)
    } else {
        Err(LimitsConfigError::Count { key, given, least, most })
    }
}

/// `[audit]`: where the trail goes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditConfig {
    /// The file that every decision is appended to. None, and there is no trail.
    pub file: Option<PathBuf>,
}
