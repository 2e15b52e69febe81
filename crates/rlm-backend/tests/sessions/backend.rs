//! The sessions of these tests are on this machine.

use std::sync::Arc;

use rlm_backend::{LocalBackend, SandboxConfig, SessionManager};

/// It always is.
pub(crate) fn is_there() -> bool {
    true
}

/// A configuration for this machine.
pub(crate) fn of(config: SandboxConfig) -> SandboxConfig {
    config
}

/// Sessions without the tool over them.
pub(crate) fn manager(config: SandboxConfig) -> SessionManager {
    SessionManager::new(Arc::new(LocalBackend::new(config.clone())), config)
}
