//! Which of the agent programs that `[subagent]` knows are installed.

use serde::Serialize;
use spawner::{Preset, presets};

use crate::env;

/// One agent program.
#[derive(Debug, Serialize)]
pub(super) struct AgentProgram {
    agent: String,
    title: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    how_to_install: Option<String>,
}

/// All of them.
pub(super) fn look() -> Vec<AgentProgram> {
    presets().iter().map(|(name, preset)| program(name, preset)).collect()
}

fn program(name: &str, preset: &Preset) -> AgentProgram {
    let own = (name == "remit").then(|| std::env::current_exe().ok()).flatten();
    let path = own.or_else(|| preset.installed(env::named("PATH")));
    AgentProgram {
        agent: name.to_owned(),
        title: preset.title.clone(),
        status: if path.is_some() { "installed" } else { "not_installed" },
        how_to_install: path.is_none().then(|| preset.install.clone()),
        path: path.map(|path| path.display().to_string()),
    }
}

impl AgentProgram {
    pub(super) fn label(&self) -> String {
        format!("agent {}", self.agent)
    }

    /// What a person reads, and how it is installed where it is not.
    pub(super) fn in_words(&self) -> (String, Option<String>) {
        let said = match &self.path {
            Some(path) => format!("{} installed: {path}", self.title),
            None => format!("{} not installed", self.title),
        };
        (said, self.how_to_install.as_ref().map(|how| format!("to install: {how}")))
    }
}
