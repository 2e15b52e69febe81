//! `[sandbox]`: what an operator can set of sessions, and what of it makes no sense.

use std::{path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tool_core::OutOfRange;

use crate::{DockerConfig, ProtectionConfig, Requirements};

const DAY: u64 = 24 * 60 * 60;
const MONTH: u64 = 30 * DAY;
/// A thousand processors.
const MAX_CPU_PERCENT: u64 = 100_000;

/// The backend on this machine.
pub(crate) const LOCAL: &str = "local";
/// The backend of container engines.
pub(crate) const DOCKER: &str = "docker";
/// Kinds of isolation that are known and not offered.
const NOT_BUILT: [&str; 3] = ["firecracker", "e2b", "ssh"];

/// `[sandbox]`: code and bash in sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxConfig {
    /// Whether the tool exists.
    pub enabled: bool,
    /// How sessions are isolated: `local` or `docker`.
    pub backend: String,
    /// What to use instead where `backend` can't be had on this machine, in this order. Without it,
    /// nothing is.
    pub fallback: Vec<String>,
    /// Whether the tools `rlm_code`, `rlm_bash` and `rlm_query` exist too, for models that are offered
    /// tools without operations.
    pub separate_tools: bool,
    /// The time of one call, in seconds.
    pub timeout_secs: u64,
    /// How many bytes of each stream of a call are kept.
    pub max_output_bytes: u64,
    /// The most sessions at once.
    pub max_sessions: u64,
    /// How long a session lives, in seconds.
    pub session_lifetime_secs: u64,
    /// How often a session's life can be extended.
    pub session_extensions: u64,
    /// How much longer it lives by each extension, in seconds.
    pub session_extension_secs: u64,
    /// How long a session may be without a call, in seconds.
    pub idle_secs: u64,
    /// How many sessions are kept ready, with a Python that runs, once a first one was made.
    pub warm_sessions: u64,
    /// The memory of all processes of one interpreter, in bytes.
    pub memory_bytes: u64,
    /// The most processes and threads of one interpreter.
    pub processes: u64,
    /// The processor time of all processes of one interpreter together, in percent of one processor;
    /// held by a control group alone. Not limited where absent.
    pub cpu_percent: Option<u64>,
    /// The most that a private working directory may hold, in bytes.
    pub disk_bytes: u64,
    /// The largest file that can be put into a session, in bytes.
    pub max_file_bytes: u64,
    /// The network that sessions have.
    pub network: SessionNetwork,
    /// The directory that sessions work in; a private one for each, deleted at its end, where absent.
    pub workdir: Option<PathBuf>,
    /// What sessions may do in `workdir`.
    pub workdir_access: SessionAccess,
    /// Files and directories of the machine that sessions may read besides.
    pub readable: Vec<PathBuf>,
    /// What is protected in `workdir` where it may be written.
    pub protection: ProtectionConfig,
    /// Mechanisms of the kernel without which nothing is started; the others are used where the
    /// machine has them.
    pub require: Requirements,
    /// Containers, where the backend is `docker`.
    pub docker: DockerConfig,
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
            backend: LOCAL.to_owned(),
            fallback: Vec::new(),
            separate_tools: false,
            timeout_secs: 120,
            max_output_bytes: 64 << 10,
            max_sessions: 16,
            session_lifetime_secs: 1800,
            session_extensions: 3,
            session_extension_secs: 1800,
            idle_secs: 900,
            warm_sessions: 1,
            memory_bytes: 1 << 30,
            processes: 128,
            cpu_percent: None,
            disk_bytes: 1 << 30,
            max_file_bytes: 8 << 20,
            network: SessionNetwork::None,
            workdir: None,
            workdir_access: SessionAccess::ReadOnly,
            readable: Vec::new(),
            protection: ProtectionConfig::default(),
            require: Requirements::default(),
            docker: DockerConfig::default(),
        }
    }
}

/// A section that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SandboxConfigError {
    /// A number of zero, or an absurd one.
    #[error(transparent)]
    Range(#[from] OutOfRange),
    /// A kind of isolation that is known, and not offered.
    #[error("this build has no {name:?} backend; those that it has are \"local\" and \"docker\"")]
    NotBuilt {
        /// The key that names it.
        key: &'static str,
        /// Its name.
        name: String,
    },
    /// No kind of isolation has this name.
    #[error("no backend is named {name:?}; the valid names are \"local\" and \"docker\"")]
    Unknown {
        /// The key that names it.
        key: &'static str,
        /// The name.
        name: String,
    },
    /// A kind of isolation that is named twice.
    #[error("the backend {0:?} is named twice")]
    Twice(String),
    /// A name that can't be protected.
    #[error(transparent)]
    Protection(#[from] confine::PatternError),
}

impl SandboxConfigError {
    /// The key of the section whose value is to be mended.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Range(number) => number.key,
            Self::NotBuilt { key, .. } | Self::Unknown { key, .. } => key,
            Self::Twice(_) => "fallback",
            Self::Protection(_) => "protection",
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
        self.check_backends()?;
        self.protection.protection()?;
        let ranges = [
            ("timeout_secs", self.timeout_secs, 1, DAY),
            ("max_output_bytes", self.max_output_bytes, 256, 16 << 20),
            ("max_sessions", self.max_sessions, 1, 4096),
            ("session_lifetime_secs", self.session_lifetime_secs, 1, MONTH),
            ("session_extensions", self.session_extensions, 0, 1000),
            ("session_extension_secs", self.session_extension_secs, 1, MONTH),
            ("idle_secs", self.idle_secs, 1, MONTH),
            ("warm_sessions", self.warm_sessions, 0, 64),
            ("memory_bytes", self.memory_bytes, 16 << 20, 1 << 50),
            ("processes", self.processes, 4, 1 << 16),
            ("cpu_percent", self.cpu_percent.unwrap_or(100), 1, MAX_CPU_PERCENT),
            ("disk_bytes", self.disk_bytes, 1 << 20, 1 << 50),
            ("max_file_bytes", self.max_file_bytes, 1, 1 << 30),
            ("docker.open_files", self.docker.open_files, 64, 1 << 20),
            ("docker.tmp_bytes", self.docker.tmp_bytes, 1 << 20, 1 << 40),
        ];
        Ok(OutOfRange::check(&ranges)?)
    }

    /// Every backend that is named is one that this build has, and is named once.
    fn check_backends(&self) -> Result<(), SandboxConfigError> {
        let listed = self.fallback.iter().map(|name| ("fallback", name));
        let named: Vec<_> = std::iter::once(("backend", &self.backend)).chain(listed).collect();
        for (at, (key, name)) in named.iter().enumerate() {
            let (key, name) = (*key, (*name).clone());
            if NOT_BUILT.contains(&name.as_str()) {
                return Err(SandboxConfigError::NotBuilt { key, name });
            }
            if ![LOCAL, DOCKER].contains(&name.as_str()) {
                return Err(SandboxConfigError::Unknown { key, name });
            }
            if named[..at].iter().any(|(_, other)| **other == name) {
                return Err(SandboxConfigError::Twice(name));
            }
        }
        Ok(())
    }

    /// The names of the backends, in the order in which they are tried.
    pub(crate) fn backends(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.backend).chain(&self.fallback).map(String::as_str)
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
        let keys: [(&str, Set); 11] = [
            ("timeout_secs", |config, value| config.timeout_secs = value),
            ("max_output_bytes", |config, value| config.max_output_bytes = value),
            ("max_sessions", |config, value| config.max_sessions = value),
            ("session_lifetime_secs", |config, value| config.session_lifetime_secs = value),
            ("session_extension_secs", |config, value| config.session_extension_secs = value),
            ("idle_secs", |config, value| config.idle_secs = value),
            ("disk_bytes", |config, value| config.disk_bytes = value),
            ("max_file_bytes", |config, value| config.max_file_bytes = value),
            ("memory_bytes", |config, value| config.memory_bytes = value),
            ("processes", |config, value| config.processes = value),
            ("cpu_percent", |config, value| config.cpu_percent = Some(value)),
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
    fn a_number_that_may_be_zero_may_not_be_absurd() {
        let config = |extensions, warm| SandboxConfig {
            session_extensions: extensions,
            warm_sessions: warm,
            ..SandboxConfig::default()
        };
        config(0, 0).check().unwrap();
        assert_eq!(config(u64::MAX, 0).check().unwrap_err().key(), "session_extensions");
        assert_eq!(config(0, u64::MAX).check().unwrap_err().key(), "warm_sessions");
    }

    #[test]
    fn a_backend_that_is_not_there_is_never_replaced_by_another() {
        let cases = [
            ("firecracker", &[][..], "backend", "has no \"firecracker\""),
            ("e2b", &["local"], "backend", "has no \"e2b\""),
            ("dcoker", &[], "backend", "the valid names are"),
            ("local", &["ssh"], "fallback", "has no \"ssh\""),
            ("docker", &["lokal"], "fallback", "the valid names are"),
            ("docker", &["local", "docker"], "fallback", "twice"),
        ];
        for (backend, fallback, key, part) in cases {
            let config = SandboxConfig {
                backend: backend.to_owned(),
                fallback: fallback.iter().map(|&name| name.to_owned()).collect(),
                ..SandboxConfig::default()
            };
            let error = config.check().unwrap_err();
            assert_eq!(error.key(), key);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
