//! The sessions of these tests are on this machine.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rlm_backend::{LocalBackend, SandboxConfig, SessionManager};
use serde_json::json;

use crate::support::Tool;

/// A session's place, as it is seen from outside: a directory.
#[derive(Debug)]
pub(crate) struct Trace(PathBuf);

impl Trace {
    /// That of the default session.
    pub(crate) async fn of(tool: &Tool) -> Self {
        Self::of_session(tool, None).await
    }

    pub(crate) async fn of_session(tool: &Tool, id: Option<&str>) -> Self {
        let mut call = json!({"op": "execute_bash", "command": "pwd"});
        if let Some(id) = id {
            call["session_id"] = id.into();
        }
        let printed = tool.answer(call).await["stdout"].as_str().unwrap().to_owned();
        let trace = Self(printed.trim().into());
        assert!(trace.is_there(), "{trace:?}");
        trace
    }

    pub(crate) fn is_there(&self) -> bool {
        self.0.is_dir()
    }
}

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

/// Sessions may write there as it is.
pub(crate) fn hand_over(path: &Path) {
    let _ = path;
}
