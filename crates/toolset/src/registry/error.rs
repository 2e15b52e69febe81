//! A configuration whose tools can't be made.

use std::{io, path::PathBuf};

use browser::BrowserToolError;
use rlm_backend::SandboxToolError;
use sandbox::{LimitsConfigError, WorkdirError};
use spawner::{PoolError, SubagentToolError};
use tool_core::{DefinitionsError, NameError, RegisterError};

use crate::command::CommandConfigError;

/// A configuration whose tools can't be made.
#[derive(Debug, thiserror::Error)]
pub enum ToolsetError {
    /// A bad limit.
    #[error(transparent)]
    Limits(#[from] LimitsConfigError),
    /// A file or directory that can't be read.
    #[error("{path:?} can't be used")]
    Path {
        /// The key that names it.
        key: &'static str,
        /// The path.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A definition file that does not fit.
    #[error("{path:?} is no definition file")]
    Definitions {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        #[source]
        source: DefinitionsError,
    },
    /// A definition file with one definition a line.
    #[error(
        "{path:?} holds one JSON value a line; a definition file is one value, so put the tools into \
         an array: [{{…}}, {{…}}]"
    )]
    Lines {
        /// The file.
        path: PathBuf,
    },
    /// A tool that can't be registered.
    #[error("a tool can't be registered")]
    Register {
        /// The key that asks for it.
        key: &'static str,
        /// What is wrong with it.
        #[source]
        source: RegisterError,
    },
    /// A working directory that can't be used.
    #[error(transparent)]
    Workdir(#[from] WorkdirError),
    /// A tool whose name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A lookup table whose name is none.
    #[error("a lookup table")]
    Lookup(#[source] NameError),
    /// A table or command with the name of another tool.
    #[error("{name:?} is the name of a built-in tool; give the {kind} another")]
    Taken {
        /// `lookup` or `command`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A command that can't be a tool.
    #[error("the command {name:?}")]
    Command {
        /// Its name.
        name: String,
        /// What is wrong with it.
        #[source]
        source: CommandConfigError,
    },
    /// A command without a directory to run in.
    #[error(
        "the command {name:?} needs a working directory: set tools.workdir (--exec-workdir DIR)"
    )]
    NoWorkdir {
        /// Its name.
        name: String,
    },
    /// Sessions that can't be had.
    #[error("the sandbox tool")]
    Sessions(#[source] SandboxToolError),
    /// Sub-agents that can't be had.
    #[error("the subagent tool")]
    Agents(#[source] SubagentToolError),
    /// The web, which can't be had.
    #[error("the browser tool")]
    Browser(#[source] BrowserToolError),
}

impl ToolsetError {
    /// The configuration key whose value is to be mended.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Limits(error) => error.key().to_owned(),
            Self::Path { key, .. } => (*key).to_owned(),
            Self::Definitions { .. } | Self::Lines { .. } => "tools.definitions".to_owned(),
            Self::Register { key, .. } => (*key).to_owned(),
            Self::Workdir(_) => "tools.workdir".to_owned(),
            Self::Name(_) => "tools".to_owned(),
            Self::Lookup(_) => "tools.lookup".to_owned(),
            Self::Taken { kind, name } => format!("tools.{kind}.{name}"),
            Self::Command { name, .. } | Self::NoWorkdir { name } => {
                format!("tools.command.{name}")
            }
            Self::Sessions(SandboxToolError::Config(error)) => format!("sandbox.{}", error.key()),
            Self::Sessions(SandboxToolError::Query(error)) => format!("query.{}", error.key()),
            Self::Sessions(_) => "sandbox".to_owned(),
            Self::Agents(SubagentToolError::Pool(PoolError::Config(error))) => {
                format!("subagent.{}", error.key())
            }
            Self::Agents(SubagentToolError::Pool(_)) => "subagent.state_dir".to_owned(),
            Self::Agents(_) => "subagent".to_owned(),
            Self::Browser(BrowserToolError::Config(error)) => format!("browser.{}", error.key()),
            Self::Browser(_) => "browser".to_owned(),
        }
    }
}
