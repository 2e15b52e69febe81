//! Why a session can't be had or used; each text says what to do instead.

use thiserror::Error;

use super::{Disk, SessionId};
use crate::{BackendError, CallError, FileError, SnapshotError, StartError, VariableError};

/// Why a session can't be had or used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// Not the text of an id.
    #[error("{0:?} is no session id; an id has 26 letters and digits, as session_create gives it")]
    Malformed(String),
    /// There never was such a session.
    #[error(
        "there is no session {0}; make one with session_create, or leave session_id out to use the \
         default one"
    )]
    Unknown(SessionId),
    /// It was destroyed.
    #[error("the session {0} was destroyed; make another with session_create")]
    Destroyed(SessionId),
    /// It was idle or alive for too long.
    #[error("the session {0} has expired, and its state is gone; make another with session_create")]
    Expired(SessionId),
    /// As many as there may be.
    #[error(
        "there are {max} sessions, and no more are allowed; end one with session_destroy, or use one \
         that there is"
    )]
    TooMany {
        /// How many there may be.
        max: u64,
    },
    /// Its life was extended as often as it may be.
    #[error(
        "the life of the session {session} was extended {max} times already, and no more is allowed; \
         get what is needed out of it, and make another with session_create"
    )]
    NoMoreExtensions {
        /// Which.
        session: SessionId,
        /// How often it may be.
        max: u64,
    },
    /// Its directory holds more than it may.
    #[error(
        "the directory of the session {session} holds {} bytes, more than the {} that are allowed, so \
         it takes no more code and no more files; get what is needed with file_get, then end it with \
         session_destroy",
        disk.held, disk.max
    )]
    DiskFull {
        /// Which.
        session: SessionId,
        /// How much it holds.
        disk: Disk,
    },
    /// Another call in the session took all of the time.
    #[error("the session {0} was busy with another call until the deadline; call again later")]
    Busy(SessionId),
    /// It ended while the call waited or ran.
    #[error("the session {0} ended during the call")]
    Ended(SessionId),
    /// What it ran in was lost while the call ran, by no limit of its own.
    #[error(
        "the session {session} was lost while the call ran, so what the call did is not known: {why}. \
         Its variables and its files are gone; the next call begins anew{printed}"
    )]
    Lost {
        /// Which.
        session: SessionId,
        /// Why.
        why: String,
        /// The end of what the call had printed, in words; empty where that is nothing.
        printed: String,
    },
    /// The backend has no place, or no process.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The driver did not come up.
    #[error("the session's interpreter did not start: {0}")]
    Start(#[from] StartError),
    /// The code can't be run.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The variable can't be set or read.
    #[error(transparent)]
    Variable(#[from] VariableError),
    /// The file can't be put or got.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no such snapshot, or none can be made.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// What it held could not be freed.
    #[error("the session {id} has ended, but its directory could not be deleted: {message}")]
    Teardown {
        /// Which.
        id: SessionId,
        /// Why.
        message: String,
    },
    /// The kernel refused something.
    #[error("no session can be made: {0}")]
    Host(#[from] std::io::Error),
}
