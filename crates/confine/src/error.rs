//! The errors that cross this crate's border.

use std::io;
use std::path::PathBuf;

use crate::{Mechanism, Step};

/// Why a confinement can't be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// A path of the configuration can't be used.
    #[error("{path} can't be used as {role}: {source}")]
    Path {
        /// Which.
        path: PathBuf,
        /// What it was given as.
        role: &'static str,
        /// What is wrong with it.
        source: io::Error,
    },
    /// A guarded path is outside of what is visible anyway, or a symbolic link.
    #[error("{path} can't be guarded: {why}")]
    Guard {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// What is required is not there.
    #[error("{what} can't be enforced here: {why}; to enable it: {remedy}")]
    Missing {
        /// The property or mechanism.
        what: String,
        /// What this machine answered.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A limit that means nothing.
    #[error("the limit {limit} must be more than zero")]
    ZeroLimit {
        /// Its name.
        limit: &'static str,
    },
    /// The launcher can't be started.
    #[error("no child can be started: {0}")]
    Launcher(#[source] io::Error),
}

impl PrepareError {
    /// A mechanism that is required and not there.
    pub(crate) fn missing(mechanism: Mechanism, why: String) -> Self {
        let remedy = mechanism.how_to_enable();
        Self::Missing { what: mechanism.to_string(), why, remedy }
    }
}

/// Why a child was not started. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// A name or argument holds a NUL byte.
    #[error("{what} holds a NUL byte")]
    Nul {
        /// Which.
        what: &'static str,
    },
    /// What a host obeys or runs later can't be protected in what is writable.
    #[error("what the host runs later can't be protected: {why}")]
    Unprotected {
        /// What is in the way.
        why: String,
    },
    /// A listener for the child alone needs a network of the child's own.
    #[error("a listener for the child alone needs a network namespace, and the child has none")]
    SharedNetwork,
    /// A step of the launch failed.
    #[error("{step} failed: {source}")]
    Step {
        /// Which.
        step: Step,
        /// What the kernel answered.
        source: io::Error,
    },
    /// The program is not there, or may not be executed.
    #[error("the program {program} can't be started: {source}")]
    Program {
        /// As it was named.
        program: String,
        /// What the kernel answered.
        source: io::Error,
    },
    /// Host and launcher could not talk, or no descriptor could be made.
    #[error("the child can't be started: {0}")]
    Host(#[from] io::Error),
}

/// Why waiting failed.
#[derive(Debug, thiserror::Error)]
#[error("waiting for the child failed: {0}")]
pub struct WaitError(#[from] pub(crate) io::Error);
