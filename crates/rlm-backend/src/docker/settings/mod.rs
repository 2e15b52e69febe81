//! From the limits of a configuration to the settings of a container: one pure function.
//!
//! Nothing is looked at here, so that what a container is given can be read in one place and compared
//! as text. What the engine made of it is for its inspection to say.

mod environment;
#[cfg(test)]
mod inspected;
mod limits;
mod mounts;

use std::{collections::HashMap, path::PathBuf};

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigCgroupnsModeEnum, HostConfigLogConfig,
    RestartPolicy, RestartPolicyNameEnum,
};

use crate::{SandboxConfig, SessionNetwork};

pub(crate) use limits::capacity;

/// Where a session works that has no directory of the operator's.
pub(crate) const WORKDIR: &str = "/workdir";

/// All that a container's settings depend on.
#[derive(Debug, Clone)]
pub(crate) struct Plan<'a> {
    /// The limits, the operator's directory, and what may be done in it.
    pub(crate) config: &'a SandboxConfig,
    /// The image, by the id that the engine has it under.
    pub(crate) image: &'a str,
    /// The variables that the image sets, as `NAME=value`.
    pub(crate) image_environment: &'a [String],
    /// The directories that the image wants volumes for.
    pub(crate) image_volumes: &'a [String],
    /// The labels, whole.
    pub(crate) labels: HashMap<String, String>,
    /// The command, whole.
    pub(crate) command: Vec<String>,
    /// The user and group that everything in it runs as; never 0.
    pub(crate) user: (u32, u32),
    /// Whether the engine can give a directory in memory to that user, which Podman can't.
    pub(crate) gives_owners: bool,
    /// Files of the host that can be read under their own paths, besides `config.readable`.
    pub(crate) reading: &'a [PathBuf],
    /// Directories and files of the host to mount under another path, and whether they may only be
    /// read: `(host, container, read_only)`.
    pub(crate) mounts: &'a [(PathBuf, PathBuf, bool)],
}

/// The settings of a session's container.
///
/// Hardened: no network (but where `config.network` says so), a read-only root, tmpfs of bounded size
/// for `/tmp` and for [`WORKDIR`], which belong to the user (the operator's directory under its own
/// path instead of the second where there is one), no capabilities, no new privileges, an init,
/// limits of processes, memory (swap equal to it), processors and open files, no devices, no log,
/// standard input open once and attached with output and error, no terminal, removed by the engine when
/// it ends. The engine's own filter of system calls, and what it hides of `/proc` and `/sys`, stay as
/// they are: nothing is asked that would loosen them.
pub(crate) fn container(plan: &Plan<'_>) -> ContainerCreateBody {
    let workdir = plan.config.workdir.as_ref();
    let workdir = workdir.map_or(WORKDIR.into(), |path| path.to_string_lossy().into_owned());
    ContainerCreateBody {
        image: Some(plan.image.to_owned()),
        labels: Some(plan.labels.clone()),
        // Instead of the image's: its entry point is not ours to run.
        entrypoint: Some(plan.command.clone()),
        cmd: Some(Vec::new()),
        user: Some(format!("{}:{}", plan.user.0, plan.user.1)),
        env: Some(environment::variables(plan.image_environment)),
        working_dir: Some(workdir),
        hostname: Some("session".to_owned()),
        open_stdin: Some(true),
        stdin_once: Some(true),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(false),
        // What an image does about its health is a program more.
        healthcheck: Some(HealthConfig {
            test: Some(vec!["NONE".to_owned()]),
            ..HealthConfig::default()
        }),
        // Nothing in it has an end to prepare: what asks it to stop does not wait.
        stop_signal: Some("SIGKILL".to_owned()),
        stop_timeout: Some(1),
        host_config: Some(host(plan)),
        ..ContainerCreateBody::default()
    }
}

fn host(plan: &Plan<'_>) -> HostConfig {
    let text = str::to_owned;
    let config = HostConfig {
        network_mode: Some(text(match plan.config.network {
            SessionNetwork::None => "none",
            SessionNetwork::Host => "host",
        })),
        ipc_mode: Some(text("private")),
        cgroupns_mode: Some(HostConfigCgroupnsModeEnum::PRIVATE),
        readonly_rootfs: Some(true),
        privileged: Some(false),
        cap_drop: Some(vec![text("ALL")]),
        security_opt: Some(vec![text("no-new-privileges:true")]),
        devices: Some(Vec::new()),
        init: Some(true),
        runtime: plan.config.docker.runtime.clone(),
        log_config: Some(HostConfigLogConfig { typ: Some(text("none")), config: None }),
        restart_policy: Some(RestartPolicy {
            name: Some(RestartPolicyNameEnum::NO),
            maximum_retry_count: None,
        }),
        auto_remove: Some(true),
        tmpfs: Some(mounts::in_memory(plan)),
        mounts: Some(mounts::of_the_host(plan)),
        ..HostConfig::default()
    };
    limits::set(config, plan.config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DockerConfig, SessionAccess};

    /// The settings as the engine is sent them, in the order of their names.
    fn settings(config: &SandboxConfig, change: impl FnOnce(&mut Plan<'_>)) -> String {
        let mut plan = Plan {
            config,
            image: "sha256:0123",
            image_environment: &[],
            image_volumes: &[],
            labels: HashMap::from([
                ("remit.owner".to_owned(), "here:7:9".to_owned()),
                ("remit.session".to_owned(), "s1".to_owned()),
            ]),
            command: vec!["python3".to_owned(), "/run/remit/supervisor.py".to_owned()],
            user: (1000, 1000),
            gives_owners: true,
            reading: &[],
            mounts: &[],
        };
        change(&mut plan);
        let value = serde_json::to_value(container(&plan)).unwrap();
        serde_json::to_string_pretty(&value).unwrap()
    }

    #[test]
    fn by_default_all_is_closed_and_bounded() {
        insta::assert_snapshot!(settings(&SandboxConfig::default(), |_| ()));
    }

    #[test]
    fn every_limit_has_its_setting() {
        let config = SandboxConfig {
            memory_bytes: 512 << 20,
            processes: 64,
            cpu_percent: Some(150),
            disk_bytes: 1 << 20,
            docker: DockerConfig {
                open_files: 99,
                tmp_bytes: 2 << 20,
                runtime: Some("runsc".to_owned()),
                ..DockerConfig::default()
            },
            ..SandboxConfig::default()
        };
        insta::assert_snapshot!(settings(&config, |_| ()));
    }

    #[test]
    fn what_the_operator_opens_is_open_and_nothing_else() {
        let config = SandboxConfig {
            network: SessionNetwork::Host,
            workdir: Some("/srv/project".into()),
            workdir_access: SessionAccess::ReadWrite,
            readable: vec!["/srv/data".into()],
            ..SandboxConfig::default()
        };
        insta::assert_snapshot!(settings(&config, |plan| {
            plan.reading = Box::leak(Box::new(["/srv/context.json".into()]));
            let covered =
                ("/srv/project/.git/hooks".into(), "/srv/project/.git/hooks".into(), true);
            plan.mounts = Box::leak(Box::new([covered]));
        }));
    }

    #[test]
    fn what_an_image_brings_is_bounded_too() {
        insta::assert_snapshot!(settings(&SandboxConfig::default(), |plan| {
            let variables =
                ["PATH=/opt/bin:/bin", "PYTHONPATH=/opt/lib", "TOKEN=canary", "LANG=fr"];
            plan.image_environment = Box::leak(Box::new(variables.map(str::to_owned)));
            plan.image_volumes = Box::leak(Box::new(["/data".to_owned(), "/tmp".to_owned()]));
        }));
    }

    #[test]
    fn an_engine_that_gives_no_directory_to_a_user_is_asked_for_none() {
        let config = SandboxConfig::default();
        let settings = settings(&config, |plan| plan.gives_owners = false);
        assert!(!settings.contains("uid=") && !settings.contains("gid="), "{settings}");
        assert_eq!(settings.matches("rw,exec,nosuid,nodev,size=").count(), 2, "{settings}");
        assert_eq!(settings.matches(",mode=1777\"").count(), 2, "{settings}");
    }
}
