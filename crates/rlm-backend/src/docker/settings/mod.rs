//! From the limits of a configuration to the settings of a container: one pure function.

use std::{collections::HashMap, path::PathBuf};

use bollard::models::ContainerCreateBody;

use crate::SandboxConfig;

/// Where a session works that has no directory of the operator's.
pub(crate) const WORKDIR: &str = "/workdir";

/// All that a container's settings depend on.
#[derive(Debug, Clone)]
pub(crate) struct Plan<'a> {
    /// The limits, the operator's directory, and what may be done in it.
    pub(crate) config: &'a SandboxConfig,
    /// The image, by the id that the engine has it under.
    pub(crate) image: &'a str,
    /// The labels, whole.
    pub(crate) labels: HashMap<String, String>,
    /// The command, whole.
    pub(crate) command: Vec<String>,
    /// The user and group that everything in it runs as; never 0.
    pub(crate) user: (u32, u32),
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
/// it ends.
pub(crate) fn container(plan: &Plan<'_>) -> ContainerCreateBody {
    ContainerCreateBody {
        image: Some(plan.image.to_owned()),
        labels: Some(plan.labels.clone()),
        cmd: Some(plan.command.clone()),
        user: Some(format!("{}:{}", plan.user.0, plan.user.1)),
        open_stdin: Some(true),
        stdin_once: Some(true),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        working_dir: Some(WORKDIR.to_owned()),
        ..ContainerCreateBody::default()
    }
}
