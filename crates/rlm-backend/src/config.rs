//! `[sandbox]`: what an operator can set of sessions, and what of it makes no sense.

use std::{path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

const DAY: u64 = 24 * 60 * 60;
const MONTH: u64 = 30 * DAY;

/// `[sandbox]`: code and bash in sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxConfig {
    /// Whether the tool exists.
    pub enabled: bool,
    /// How sessions are isolated: `local`.
    pub backend: String,
    /// The time of one call, in seconds.
    pub timeout_secs: u64,
    /// How many bytes of each stream of a call are kept.
    pub max_output_bytes: u64,
    /// The most sessions at once.
    pub max_sessions: u64,
    /// How long a session lives, in seconds.
    pub session_lifetime_secs: u64,
    /// How long a session may be without a call, in seconds.
    pub idle_secs: u64,
    /// The memory of all processes of one interpreter, in bytes.
    pub memory_bytes: u64,
    /// The most processes and threads of one interpreter.
    pub processes: u64,
    /// The network that sessions have.
    pub network: SessionNetwork,
    /// The directory that sessions work in; a private one for each, deleted at its end, where absent.
    pub workdir: Option<PathBuf>,
    /// What sessions may do in `workdir`.
    pub workdir_access: SessionAccess,
}

/// The network of sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionNetwork {
    /// None.
    #[default]
    None,
    /// The host's.
    Host,
}

/// What sessions may do in the operator's directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionAccess {
    /// Read.
    #[default]
    ReadOnly,
    /// Read and write.
    ReadWrite,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            backend: "local".to_owned(),
            timeout_secs: 120,
            max_output_bytes: 64 << 10,
            max_sessions: 16,
            session_lifetime_secs: 1800,
            idle_secs: 900,
            memory_bytes: 1 << 30,
            processes: 128,
            network: SessionNetwork::None,
            workdir: None,
            workdir_access: SessionAccess::ReadOnly,
        }
    }
}

/// A section that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SandboxConfigError {
    /// A number of zero, or an absurd one.
    #[error("{key} is {given}, and must be from {least} to {most}")]
    Range {
        /// Which.
        key: &'static str,
        /// Its value.
        given: u64,
        /// The least that is accepted.
        least: u64,
        /// The most that is accepted.
        most: u64,
    },
    /// A kind of isolation that is known, and not offered.
    #[error("this build has no {0:?} backend; the one that it has is \"local\"")]
    NotBuilt(String),
    /// No kind of isolation has this name.
    #[error("no backend is named {0:?}; the valid name is \"local\"")]
    Unknown(String),
}

impl SandboxConfigError {
    /// The key of the section whose value is to be mended.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Range { key, .. } => key,
            Self::NotBuilt(_) | Self::Unknown(_) => "backend",
        }
    }
}

impl SandboxConfig {
    /// Checks every value.
    ///
    /// # Errors
    ///
    /// The first that can't be used.
    pub fn check(&self) -> Result<(), SandboxConfigError> {
        match self.backend.as_str() {
            "local" => {}
            "docker" | "firecracker" | "e2b" | "ssh" => {
                return Err(SandboxConfigError::NotBuilt(self.backend.clone()));
            }
            _ => return Err(SandboxConfigError::Unknown(self.backend.clone())),
        }
        let ranges = [
            ("timeout_secs", self.timeout_secs, 1, DAY),
            ("max_output_bytes", self.max_output_bytes, 256, 16 << 20),
            ("max_sessions", self.max_sessions, 1, 4096),
            ("session_lifetime_secs", self.session_lifetime_secs, 1, MONTH),
            ("idle_secs", self.idle_secs, 1, MONTH),
            ("memory_bytes", self.memory_bytes, 16 << 20, 1 << 50),
            ("processes", self.processes, 4, 1 << 16),
        ];
        let bad = ranges.into_iter().find(|(_, given, least, most)| given < least || given > most);
        match bad {
            Some((key, given, least, most)) => {
                Err(SandboxConfigError::Range { key, given, least, most })
            }
            None => Ok(()),
        }
    }

    /// The time of one call.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_secs)
    }

    pub(crate) fn output_bytes(&self) -> usize {
        usize::try_from(self.max_output_bytes).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absurd_number_is_refused_and_names_its_key() {
        type Set = fn(&mut SandboxConfig, u64);
        let keys: [(&str, Set); 7] = [
            ("timeout_secs", |config, value| config.timeout_secs = value),
            ("max_output_bytes", |config, value| config.max_output_bytes = value),
            ("max_sessions", |config, value| config.max_sessions = value),
            ("session_lifetime_secs", |config, value| config.session_lifetime_secs = value),
            ("idle_secs", |config, value| config.idle_secs = value),
            ("memory_bytes", |config, value| config.memory_bytes = value),
            ("processes", |config, value| config.processes = value),
        ];
        for (key, set) in keys {
            for value in [0, u64::MAX, (1 << 50) + 1] {
                let mut config = SandboxConfig::default();
                set(&mut config, value);
                let error = config.check().unwrap_err();
                assert_eq!(error.key(), key);
                assert!(error.to_string().contains(&value.to_string()), "{error}");
            }
        }
        SandboxConfig::default().check().unwrap();
    }

    #[test]
    fn a_backend_that_is_not_there_is_never_replaced_by_another() {
        for (name, part) in [("docker", "has no \"docker\""), ("podmann", "the valid name is")] {
            let config = SandboxConfig { backend: name.to_owned(), ..SandboxConfig::default() };
            let error = config.check().unwrap_err();
            assert_eq!(error.key(), "backend");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
