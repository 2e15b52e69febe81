//! What the environment of a program says of an engine, as a value.

use std::path::{Path, PathBuf};

/// What the environment of the program says of an engine. Libraries read no environment: whoever
/// has one fills it in. What is set and empty counts as not set.
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
    /// `PATH`, in which `ssh` is looked for.
    pub path: Option<String>,
    /// `SSH_AUTH_SOCK`, which `ssh` asks for keys.
    pub ssh_auth_sock: Option<String>,
}

/// A value that is there and not empty.
pub(super) fn set(value: &Option<String>) -> Option<&str> {
    value.as_deref().filter(|value| !value.is_empty())
}

impl EngineEnvironment {
    /// The folder that the `docker` command keeps its settings in.
    pub(super) fn config_folder(&self) -> Option<PathBuf> {
        let named = set(&self.docker_config).map(PathBuf::from);
        named.or_else(|| set(&self.home).map(|home| Path::new(home).join(".docker")))
    }

    /// The folder of the material for TLS, where the environment wants TLS.
    pub(super) fn tls_folder(&self) -> Option<PathBuf> {
        set(&self.docker_tls_verify)?;
        let named = set(&self.docker_cert_path).map(PathBuf::from);
        named.or_else(|| self.config_folder())
    }

    /// A file of the user's runtime folder.
    pub(super) fn runtime_file(&self, name: &str) -> Option<PathBuf> {
        set(&self.xdg_runtime_dir).map(|folder| Path::new(folder).join(name))
    }
}
