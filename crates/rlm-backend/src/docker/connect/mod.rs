//! Finding an engine as the `docker` command does, and connecting to it.
//!
//! Goes in: the section of the configuration, with what the environment says. Comes out: a client
//! that an engine has answered, or an error that says what was tried and how to start one.

use bollard::Docker;
use thiserror::Error;

use super::DockerConfig;

/// What the environment of the program says of an engine. Libraries read no environment: whoever
/// has one fills it in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineEnvironment {
    /// `DOCKER_HOST`.
    pub docker_host: Option<String>,
    /// `DOCKER_CONTEXT`.
    pub docker_context: Option<String>,
    /// `DOCKER_CONFIG`.
    pub docker_config: Option<String>,
    /// `DOCKER_CERT_PATH`.
    pub docker_cert_path: Option<String>,
    /// `DOCKER_TLS_VERIFY`.
    pub docker_tls_verify: Option<String>,
    /// `CONTAINER_HOST`, which the `podman` command obeys.
    pub container_host: Option<String>,
    /// `XDG_RUNTIME_DIR`.
    pub xdg_runtime_dir: Option<String>,
    /// `HOME`.
    pub home: Option<String>,
}

/// An engine that answered.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    /// Its client. It outlives a restart of the engine: each request connects anew where it must.
    pub(crate) docker: Docker,
    /// Where it is and how it was found, in words for an error.
    pub(crate) place: String,
    /// Whether it is on this machine, so that it can mount files of this machine.
    pub(crate) is_local: bool,
}

/// No engine: what was tried, why it failed, and how to start one. Socket permission, no socket, and
/// an engine that does not answer are told apart.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub(crate) struct ConnectError {
    message: String,
}

/// Connects to the engine that is meant, and asks it for its version. It has a deadline of its own, a
/// few seconds.
pub(crate) async fn connect(config: &DockerConfig) -> Result<Engine, ConnectError> {
    let failed = |error: bollard::errors::Error| ConnectError { message: error.to_string() };
    let docker = Docker::connect_with_unix_defaults().map_err(failed)?;
    docker.version().await.map_err(failed)?;
    let place = config.host.clone().unwrap_or_else(|| "unix:///var/run/docker.sock".to_owned());
    Ok(Engine { docker, place, is_local: true })
}
