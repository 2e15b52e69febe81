//! The limits of a configuration as those of a control group, and of each process.
//!
//! Memory is one limit for all that a session does, and its swap is none. Files in `/tmp` and in a private
//! working directory are held in memory and count towards it; so that a full directory is an error of
//! the program that writes, and not the end of the session, these can never fill all of it.

use bollard::models::{HostConfig, ResourcesUlimits};

use crate::SandboxConfig;

/// A whole processor, in billionths.
const PROCESSOR: u64 = 1_000_000_000;

/// Sets them.
pub(super) fn set(host: HostConfig, config: &SandboxConfig) -> HostConfig {
    let memory = number(config.memory_bytes);
    HostConfig {
        memory: Some(memory),
        // Of memory and swap together.
        memory_swap: Some(memory),
        oom_kill_disable: Some(false),
        pids_limit: Some(number(config.processes)),
        nano_cpus: config
            .cpu_percent
            .map(|percent| number(percent.saturating_mul(PROCESSOR / 100))),
        ulimits: Some(vec![ulimit("nofile", config.docker.open_files), ulimit("core", 0)]),
        shm_size: Some(number(tmp_bytes(config))),
        ..host
    }
}

/// What a private working directory may hold.
pub(crate) fn capacity(config: &SandboxConfig) -> u64 {
    config.disk_bytes.min(config.memory_bytes / 16 * 7)
}

/// The size of a private working directory: a little more than it may hold, so that what holds too much
/// is seen to do so before nothing can be written any more.
pub(super) fn workdir_bytes(config: &SandboxConfig) -> u64 {
    let capacity = capacity(config);
    capacity + capacity / 8 + (64 << 10)
}

/// The size of `/tmp`.
pub(super) fn tmp_bytes(config: &SandboxConfig) -> u64 {
    config.docker.tmp_bytes.min(config.memory_bytes / 8)
}

fn ulimit(name: &str, value: u64) -> ResourcesUlimits {
    let value = Some(number(value));
    ResourcesUlimits { name: Some(name.to_owned()), soft: value, hard: value }
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
