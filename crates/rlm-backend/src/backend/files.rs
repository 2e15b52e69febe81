//! The files of a place, where the host can reach them: in, out, and what a call changed.
//!
//! Paths are relative to the session's working directory. Neither direction follows a symbolic link,
//! leaves the directory, or opens anything but a regular file: what a session puts there is as
//! untrusted as what it prints.

use std::{fmt, io};

use confine::ToldFinding;

use thiserror::Error;

/// The files of a place. Every method blocks, but `is_small`.
pub trait Files: fmt::Debug + Send + Sync {
    /// Makes a file with this content, and the directories that it is in. A file that is there is
    /// replaced as a whole where `overwrite` says so, and refused otherwise.
    ///
    /// # Errors
    ///
    /// [`FileError`]; nothing has changed but directories that were made.
    fn put(&self, path: &str, content: &[u8], overwrite: bool) -> Result<(), FileError>;

    /// Reads at most `limit` bytes of a file from `offset` on.
    ///
    /// # Errors
    ///
    /// [`FileError`].
    fn get(&self, path: &str, offset: u64, limit: usize) -> Result<FilePart, FileError>;

    /// A call begins: where others than the session change the files, what is there now is not what
    /// the call made.
    fn begin(&self) {}

    /// What is another than at the look before, or than at the beginning of the call, and how much
    /// there is.
    fn look(&self) -> FileChanges;

    /// How many bytes the directory holds, where that is bounded. It changes nothing of what a look
    /// finds.
    fn measure(&self) -> Option<u64> {
        None
    }

    /// Whether a look takes no longer than some system calls, so that no other thread is needed.
    fn is_small(&self) -> bool {
        false
    }
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePart {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// How many bytes the whole file has.
    pub size: u64,
}

/// What became of a place's files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileChanges {
    /// Files that were made or changed, by their paths; a bounded number.
    pub files: Vec<ChangedFile>,
    /// How many more there are.
    pub left_out: u64,
    /// Why there is no list.
    pub not_listed: Option<String>,
    /// How many bytes the directory holds, where that is bounded and was measured.
    pub held_bytes: Option<u64>,
    /// What was made or changed of what the host would obey or run later, where the directory outlives
    /// the session; a bounded number, the gravest first.
    pub executable_configuration: Vec<ToldFinding>,
    /// How many more there are.
    pub executable_left_out: u64,
}

/// A file that was made or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path from the working directory.
    pub path: String,
    /// How many bytes it has.
    pub size: u64,
}

/// Why a file was not put or got.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// Not a path of the session.
    #[error("{path:?} is no path in the session's directory: {why}")]
    Path {
        /// The path as it was given.
        path: String,
        /// What is wrong.
        why: &'static str,
    },
    /// There is nothing.
    #[error("there is no file {path:?} in the session's directory")]
    NotFound {
        /// Which.
        path: String,
    },
    /// Something that is no regular file, or on the way to one a link or no directory.
    #[error("{path:?} is {what}, and only regular files are put and got")]
    Kind {
        /// Which.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// A file is there.
    #[error("there is a file {path:?} already; set overwrite to true to replace it")]
    Exists {
        /// Which.
        path: String,
    },
    /// The session's directory is the operator's, and may only be read.
    #[error("the session's directory may only be read")]
    ReadOnly,
    /// The host could run what stands there.
    #[error("{path:?} is a file that programs of the host run or obey, and can't be put")]
    Protected {
        /// Which.
        path: String,
    },
    /// More bytes than may be put at once.
    #[error("the file has {bytes} bytes, more than the {max} that are allowed")]
    TooLarge {
        /// How many it has.
        bytes: u64,
        /// How many it may have.
        max: u64,
    },
    /// The host can't reach the files of this backend's places.
    #[error("files can't be put into sessions of this backend, or got out of them")]
    Unsupported,
    /// The kernel refused.
    #[error("{path:?}: {source}")]
    Io {
        /// Which.
        path: String,
        /// Why.
        source: io::Error,
    },
}
