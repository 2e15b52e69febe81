//! What a container sees of files besides its image.
//!
//! What can be written and is not the operator's is held in memory, with a size. What is mounted of the
//! host is the operator's word: nothing else is. A read-only mount shows nothing that is mounted below
//! it on the host, since that could be written.

use std::{collections::HashMap, path::Path};

use bollard::models::{Mount, MountBindOptions, MountBindOptionsPropagationEnum, MountType};

use super::{Plan, WORKDIR, limits};
use crate::SessionAccess;

/// Directories in memory, with the options of their mounts.
pub(super) fn in_memory(plan: &Plan<'_>) -> HashMap<String, String> {
    let config = plan.config;
    let options = |bytes: u64, mode: &str| {
        let (user, group) = plan.user;
        match plan.gives_owners {
            true => format!("rw,exec,nosuid,nodev,size={bytes},mode={mode},uid={user},gid={group}"),
            // Nobody but that user is in the container.
            false => format!("rw,exec,nosuid,nodev,size={bytes},mode=1777"),
        }
    };
    let tmp = limits::tmp_bytes(config);
    // An image's volume would be a directory of the engine's, without a size.
    let volumes = plan.image_volumes.iter().map(|path| (path.clone(), options(tmp, "1777")));
    let mut mounts: HashMap<_, _> = volumes.collect();
    mounts.insert("/tmp".to_owned(), options(tmp, "1777"));
    if config.workdir.is_none() {
        mounts.insert(WORKDIR.to_owned(), options(limits::workdir_bytes(config), "0700"));
    }
    mounts
}

/// What of the host is visible.
pub(super) fn of_the_host(plan: &Plan<'_>) -> Vec<Mount> {
    let config = plan.config;
    let is_read_only = config.workdir_access == SessionAccess::ReadOnly;
    let workdir = config.workdir.iter().map(|path| bind(path, path, is_read_only));
    let readable = config.readable.iter().chain(plan.reading).map(|path| bind(path, path, true));
    let others = plan.mounts.iter().map(|(host, path, is_ro)| bind(host, path, *is_ro));
    workdir.chain(readable).chain(others).collect()
}

fn bind(host: &Path, path: &Path, is_read_only: bool) -> Mount {
    let text = |path: &Path| Some(path.to_string_lossy().into_owned());
    Mount {
        typ: Some(MountType::BIND),
        source: text(host),
        target: text(path),
        read_only: Some(is_read_only),
        bind_options: Some(MountBindOptions {
            propagation: Some(MountBindOptionsPropagationEnum::RPRIVATE),
            non_recursive: is_read_only.then_some(true),
            ..MountBindOptions::default()
        }),
        ..Mount::default()
    }
}
