//! How much a session's private directory holds, and how much it may.
//!
//! It is measured after each call, and a session that holds more takes no more code and no more files:
//! what is there can still be got out of it. While a call runs only the size of a single file is
//! bounded, by the kernel; a user without privileges has no quota to set.

use super::{SessionError, SessionId};

/// Bytes held and allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disk {
    /// How many bytes the directory held when it was last looked at.
    pub held: u64,
    /// How many it may hold.
    pub max: u64,
}

impl Disk {
    /// Whether it holds more than it may.
    #[must_use]
    pub fn is_full(self) -> bool {
        self.held > self.max
    }

    pub(super) fn check(self, session: SessionId) -> Result<(), SessionError> {
        if self.is_full() { Err(SessionError::DiskFull { session, disk: self }) } else { Ok(()) }
    }
}
