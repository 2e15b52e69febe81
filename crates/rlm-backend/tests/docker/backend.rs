//! The sessions of these tests are in containers.

use std::{fs, os::unix::fs::lchown, path::Path, sync::Arc};

use rlm_backend::{DockerBackend, DockerConfig, SandboxConfig, SessionManager};
use serde_json::json;
use testkit::docker::{IMAGE, engine};

use crate::{STREAMED, support::Tool};

/// A session's place, as it is seen from outside: a container.
#[derive(Debug)]
pub(crate) struct Trace(String);

impl Trace {
    /// That of the default session.
    pub(crate) async fn of(tool: &Tool) -> Self {
        Self::of_session(tool, None).await
    }

    pub(crate) async fn of_session(tool: &Tool, id: Option<&str>) -> Self {
        let mut call = json!({"op": "execute_bash", "command": "true"});
        if let Some(id) = id {
            call["session_id"] = id.into();
        }
        let output = tool.call(call).await.outcome.unwrap();
        let confinement = output.confinement.unwrap();
        let trace = Self(confinement["container"].as_str().unwrap().to_owned());
        assert!(trace.is_there(), "{trace:?}");
        trace
    }

    pub(crate) fn is_there(&self) -> bool {
        engine().unwrap().containers().contains(&self.0)
    }
}

/// Whether there is an engine; says why not.
pub(crate) fn is_there() -> bool {
    engine().is_some()
}

/// A configuration for the engine of the tests.
pub(crate) fn of(config: SandboxConfig) -> SandboxConfig {
    let docker = DockerConfig {
        host: engine().map(|engine| engine.host()),
        image: IMAGE.to_owned(),
        share_pipes: !STREAMED,
        ..config.docker
    };
    SandboxConfig { backend: "docker".to_owned(), docker, ..config }
}

/// Sessions without the tool over them.
pub(crate) fn manager(config: SandboxConfig) -> SessionManager {
    let config = of(config);
    SessionManager::new(Arc::new(DockerBackend::new(config.clone())), config)
}

/// Makes a directory one that the user of a container may write: who is never the superuser.
pub(crate) fn hand_over(path: &Path) {
    if rustix::process::geteuid().is_root() {
        give(path);
    }
}

fn give(path: &Path) {
    const SOMEBODY: Option<u32> = Some(1234);
    lchown(path, SOMEBODY, SOMEBODY).unwrap();
    if fs::symlink_metadata(path).unwrap().is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path());
        }
    }
}
