//! The sessions of these tests are on this machine.

use std::sync::Arc;

use rlm_backend::{LocalBackend, SandboxConfig, SessionManager};

/// There is always one.
pub(crate) fn is_there() -> bool {
    true
}

pub(crate) fn of(config: SandboxConfig) -> SandboxConfig {
    config
}

pub(crate) fn manager(config: SandboxConfig) -> SessionManager {
    SessionManager::new(Arc::new(LocalBackend::new(config.clone())), config)
}
