//! What can be wrong with a pool, a spawn, or an id.

use std::{io, path::PathBuf};

use crate::{AgentId, AgentState, LaunchError, ScopeError, SubagentConfigError};

/// A pool that can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// A value of the section.
    #[error(transparent)]
    Config(#[from] SubagentConfigError),
    /// The state folder.
    #[error("the state folder {folder:?} can't be used: {source}")]
    State {
        /// Which; none for a private one.
        folder: Option<PathBuf>,
        /// Why.
        source: io::Error,
    },
}

/// An agent that was not started. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// A bound of the operator's.
    #[error("{message}")]
    Bound {
        /// Its key in `[subagent]`.
        bound: &'static str,
        /// What it is, and what would be accepted.
        message: String,
    },
    /// No provider of this name, or none at all.
    #[error("{message}")]
    Provider {
        /// What was asked for, and what is valid.
        message: String,
    },
    /// A name of a model that is none.
    #[error(
        "{0:?} is no name of a model: letters, digits and . _ - : / @ +, and no - at the start"
    )]
    Model(String),
    /// A task that is empty.
    #[error("the task is empty")]
    NoTask,
    /// It asks for more than its parent holds.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// It names what no tool has.
    #[error("{0}")]
    Capability(String),
    /// A directory outside of the operator's.
    #[error("the directory {asked:?} is not within {within:?}")]
    Outside {
        /// What was asked for.
        asked: PathBuf,
        /// Where it would have to be.
        within: PathBuf,
    },
    /// The agent can't be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// An agent that can't be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// No agent has this id.
    #[error("there is no agent {id}; list names those that there are")]
    Unknown {
        /// The id.
        id: AgentId,
    },
    /// It had ended, and was forgotten.
    #[error("agent {id} has ended and was forgotten; its record is in the state folder")]
    Evicted {
        /// The id.
        id: AgentId,
    },
    /// It has ended.
    #[error("agent {id} has ended: {state}")]
    Ended {
        /// The id.
        id: AgentId,
        /// How.
        state: AgentState,
    },
    /// It lives.
    #[error("agent {id} lives; terminate it first")]
    Alive {
        /// The id.
        id: AgentId,
    },
    /// Its output can't be read.
    #[error("the output of agent {id} can't be read: {source}")]
    Output {
        /// The id.
        id: AgentId,
        /// Why.
        source: io::Error,
    },
}
