//! Where an agent is in its life.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where an agent is in its life: `starting → running ⇄ stalled → (exited | failed | terminated |
/// timed_out | lost)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentState {
    /// Being started, or started again.
    Starting,
    /// At work.
    Running,
    /// At work, without output for a while.
    Stalled,
    /// Ended well.
    Exited,
    /// Ended with an error, or could not go on.
    Failed,
    /// Ended because somebody asked for it.
    Terminated,
    /// Ended because its time was over.
    TimedOut,
    /// Its host ended before it, and it went along.
    Lost,
}

impl AgentState {
    /// Whether it has not ended.
    #[must_use]
    pub fn is_live(self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Stalled)
    }

    /// The name used in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stalled => "stalled",
            Self::Exited => "exited",
            Self::Failed => "failed",
            Self::Terminated => "terminated",
            Self::TimedOut => "timed_out",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for AgentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
