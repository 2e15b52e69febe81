//! Snapshots of a place: its files as they were, to go back to. An optional ability.
//!
//! What an interpreter holds in memory is no part of it: variables are as they are when the files are
//! put back.

use std::{fmt, io, time::Instant};

use thiserror::Error;

/// Snapshots of a place. Every method blocks.
pub trait Snapshots: fmt::Debug + Send + Sync {
    /// Keeps the files as they are.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`]; nothing is kept.
    fn create(&self) -> Result<Snapshot, SnapshotError>;

    /// Puts the files back as they were. What was made since is deleted.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`]; after one of the kernel's the directory may hold only a part.
    fn restore(&self, id: &str) -> Result<Snapshot, SnapshotError>;

    /// What is kept, oldest first.
    fn list(&self) -> Vec<Snapshot>;

    /// Forgets one.
    ///
    /// # Errors
    ///
    /// There is none of this id, or it could not be deleted.
    fn delete(&self, id: &str) -> Result<(), SnapshotError>;
}

/// What is known of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its name in its session.
    pub id: String,
    /// How many files and directories it has.
    pub files: u64,
    /// How many bytes its files have.
    pub bytes: u64,
    /// How many sockets, FIFOs and devices were left out.
    pub left_out: u64,
    /// When it was made.
    pub made: Instant,
}

/// Why there is no snapshot.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// This kind of place has none.
    #[error("snapshots are not supported: {why}")]
    Unsupported {
        /// Why.
        why: &'static str,
    },
    /// As many as there may be.
    #[error(
        "the session has {max} snapshots, and no more are allowed; delete one with snapshot_delete"
    )]
    TooMany {
        /// How many there may be.
        max: usize,
    },
    /// More than may be kept.
    #[error(
        "the session's snapshots may hold {max_bytes} bytes together and {max_files} files each; this \
         one would be more"
    )]
    TooLarge {
        /// Bytes allowed.
        max_bytes: u64,
        /// Files allowed.
        max_files: u64,
    },
    /// There is none of this id.
    #[error("there is no snapshot {id:?}; snapshot_list shows those that there are")]
    Unknown {
        /// The id.
        id: String,
    },
    /// The kernel refused.
    #[error("{what}: {source}")]
    Io {
        /// What was done.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
}
