//! What a kind of isolation gives to sessions: places, and drivers started in them.
//!
//! The traits block; the manager calls them from threads that may. Another backend, or one that a
//! test makes up, is an implementation of [`Backend`] and [`Place`], of [`Files`] where the host can
//! reach a place's files, and of [`Snapshots`] where it can keep them.

mod choice;
mod files;
mod snapshots;
mod waiting;

use std::{
    fmt, io,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use confine::ChangeReport;
use serde_json::Value;
use thiserror::Error;

use crate::{Channels, DriverProcess, Language};

pub(crate) use choice::Backends;
pub use files::{ChangedFile, FileChanges, FileError, FilePart, Files};
pub use snapshots::{Snapshot, SnapshotError, Snapshots};
pub use waiting::Waiting;

/// A kind of isolation.
pub trait Backend: fmt::Debug + Send + Sync {
    /// What it is called in a configuration.
    fn name(&self) -> &str;

    /// Whether it can be had on this machine. Starts no code of a session.
    ///
    /// # Errors
    ///
    /// What is missing, and how to get it.
    fn probe(&self) -> Result<(), BackendError>;

    /// Whether places can be made without a wait for what takes long to get. Asks nobody.
    fn is_prepared(&self) -> bool {
        true
    }

    /// Returns when what takes long to get is there, such as an image. Where the time of who waits is
    /// over before, the getting goes on, and whoever asks next finds it.
    ///
    /// # Errors
    ///
    /// It can't be had, or not in time, and how far it has come.
    fn prepare(&self, waiting: &Waiting) -> Result<(), BackendError> {
        let _ = waiting;
        Ok(())
    }

    /// Makes the place of one session. Starts no code of the session.
    ///
    /// # Errors
    ///
    /// [`BackendError`].
    fn open(&self) -> Result<Box<dyn Place>, BackendError>;

    /// The same with files of the host that the session can read, under their own paths, and not
    /// write.
    ///
    /// # Errors
    ///
    /// [`BackendError`]; by default that it can't be done.
    fn open_reading(&self, files: &[PathBuf]) -> Result<Box<dyn Place>, BackendError> {
        let _ = files;
        let name = self.name();
        Err(BackendError::new(format!("sessions of {name} can't read files of the host")))
    }
}

/// Where one session lives: its files, and its confinement.
pub trait Place: fmt::Debug + Send + Sync {
    /// Starts a driver. Drivers of one place share its working directory.
    ///
    /// # Errors
    ///
    /// [`BackendError`].
    fn start(&self, language: Language) -> Result<Started, BackendError>;

    /// Its files, where the host can reach them.
    fn files(&self) -> Option<&dyn Files> {
        None
    }

    /// Its snapshots, where it has any.
    fn snapshots(&self) -> Option<&dyn Snapshots> {
        None
    }

    /// What became of a directory that outlives the session, since its first call; nothing where
    /// there is none, or nothing was called. Asked once its drivers are gone. Blocks.
    fn changes(&self) -> Option<ChangeReport> {
        None
    }

    /// What its private directory may hold, in bytes, where that is less than the configuration says.
    fn capacity(&self) -> Option<u64> {
        None
    }

    /// How often what it held was lost while it was open, with its files and its interpreters; what
    /// outlives a session is never lost.
    fn losses(&self) -> u64 {
        0
    }

    /// Why it can't be used any more, where that is so and no limit of the session's is the reason; the
    /// next driver may find it made anew.
    fn loss(&self) -> Option<String> {
        None
    }

    /// Frees what the place holds, once its drivers are gone.
    ///
    /// # Errors
    ///
    /// What could not be freed.
    fn close(&self) -> io::Result<()>;
}

/// A driver that was started.
pub struct Started {
    /// The host's ends of its pipes.
    pub channels: Channels,
    /// Power over its process.
    pub process: Box<dyn DriverProcess>,
    /// What is enforced on it.
    pub confinement: Value,
    /// The limit that ended it, where one did; known when the process has ended.
    pub limit: Arc<OnceLock<String>>,
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").field("channels", &self.channels).finish_non_exhaustive()
    }
}

/// Why there is no session: what is missing, and how to get it.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct BackendError {
    message: String,
}

impl BackendError {
    /// An error with a text for the reader.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}
