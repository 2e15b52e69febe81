//! What an engine enforces, against what is required of it.
//!
//! Its filter of system calls is always required. What a configuration requires besides is refused
//! where the engine says that it has it not; the rest of a container's settings is not a matter of the
//! engine's machine.

use bollard::models::SystemInfo;
use confine::Mechanism;

use crate::{BackendError, SandboxConfig, SessionNetwork};

/// Whether an engine enforces what is required. `unguarded` is what of the working directory it can't
/// guard.
pub(super) fn check(
    config: &SandboxConfig,
    info: &SystemInfo,
    unguarded: &[String],
) -> Result<(), BackendError> {
    if !filters_calls(info) {
        return Err(BackendError::new(
            "the container engine filters no system calls; start it with its default seccomp profile",
        ));
    }
    let lacking = config.require.0.iter().find(|one| !enforces(**one, config, info, unguarded));
    match lacking {
        Some(lacking) => Err(BackendError::new(format!(
            "[sandbox] require names {lacking}, and the container engine can't enforce it{}",
            unguarded.first().map(|one| format!(": {one}")).unwrap_or_default()
        ))),
        None => Ok(()),
    }
}

fn filters_calls(info: &SystemInfo) -> bool {
    let options = info.security_options.iter().flatten();
    let mut seccomp = options.filter(|option| option.contains("seccomp"));
    seccomp.any(|option| !option.contains("unconfined"))
}

fn enforces(
    mechanism: Mechanism,
    config: &SandboxConfig,
    info: &SystemInfo,
    unguarded: &[String],
) -> bool {
    match mechanism {
        Mechanism::Landlock => false,
        Mechanism::NetworkNamespace => config.network == SessionNetwork::None,
        Mechanism::ProtectedNames => unguarded.is_empty(),
        Mechanism::MemoryGroup => info.memory_limit == Some(true),
        Mechanism::ProcessGroup => info.pids_limit == Some(true),
        Mechanism::CpuGroup => info.cpu_cfs_quota == Some(true),
        _ => true,
    }
}

/// The limits that the engine says it can't keep, by their names.
pub(super) fn unlimited(info: &SystemInfo) -> Vec<&'static str> {
    let kept = [("memory", info.memory_limit), ("processes", info.pids_limit)];
    kept.into_iter().filter(|(_, kept)| *kept != Some(true)).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Requirements;

    fn info(security: &[&str]) -> SystemInfo {
        SystemInfo {
            security_options: Some(security.iter().map(|&option| option.to_owned()).collect()),
            memory_limit: Some(true),
            ..SystemInfo::default()
        }
    }

    fn requiring(mechanism: Mechanism) -> SandboxConfig {
        let require = Requirements(vec![mechanism]);
        SandboxConfig { require, ..SandboxConfig::default() }
    }

    #[test]
    fn an_engine_that_filters_nothing_is_refused() {
        let config = SandboxConfig::default();
        for security in [&["name=cgroupns"][..], &[], &["name=seccomp,profile=unconfined"]] {
            let error = check(&config, &info(security), &[]).unwrap_err();
            assert!(error.to_string().contains("seccomp"), "{error}");
        }
        for security in ["name=seccomp,profile=default", "name=seccomp,profile=builtin"] {
            check(&config, &info(&[security]), &[]).unwrap();
        }
    }

    #[test]
    fn what_is_required_and_not_enforced_is_named() {
        let info = info(&["name=seccomp,profile=default"]);
        for (mechanism, is_enforced) in [
            (Mechanism::Capabilities, true),
            (Mechanism::MemoryGroup, true),
            (Mechanism::ProcessGroup, false),
            (Mechanism::Landlock, false),
            (Mechanism::ProtectedNames, true),
        ] {
            let checked = check(&requiring(mechanism), &info, &[]);
            assert_eq!(checked.is_ok(), is_enforced, "{mechanism}");
        }
        let unguarded = ["/w/.envrc is a symbolic link".to_owned()];
        let error = check(&requiring(Mechanism::ProtectedNames), &info, &unguarded).unwrap_err();
        assert!(error.to_string().contains("/w/.envrc"), "{error}");
        let host = SandboxConfig {
            network: SessionNetwork::Host,
            ..requiring(Mechanism::NetworkNamespace)
        };
        check(&host, &info, &[]).unwrap_err();
    }
}
