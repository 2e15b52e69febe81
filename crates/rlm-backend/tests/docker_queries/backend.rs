//! The sessions of these tests are in containers.

use std::sync::Arc;

use rlm_backend::{DockerBackend, DockerConfig, SandboxConfig, SessionManager};
use testkit::docker::{IMAGE, engine};

/// Whether there is an engine; says why not.
pub(crate) fn is_there() -> bool {
    engine().is_some()
}

/// A configuration for the engine of the tests.
pub(crate) fn of(config: SandboxConfig) -> SandboxConfig {
    let docker = DockerConfig {
        host: engine().map(|engine| engine.host()),
        image: IMAGE.to_owned(),
        ..config.docker
    };
    SandboxConfig { backend: "docker".to_owned(), docker, ..config }
}

pub(crate) fn manager(config: SandboxConfig) -> SessionManager {
    let config = of(config);
    SessionManager::new(Arc::new(DockerBackend::new(config.clone())), config)
}
