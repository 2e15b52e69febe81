//! What is known of a session without asking its code.

use std::time::Duration;

use super::SessionId;
use crate::Background;

/// A session as `session_status` shows it.
#[derive(Debug)]
pub struct SessionStatus {
    /// Which.
    pub id: SessionId,
    /// Since it was made.
    pub age: Duration,
    /// Until it expires, if nothing is called.
    pub expires_in: Duration,
    /// Until it expires whatever is called, if its life is not extended.
    pub ends_in: Duration,
    /// How often its life can still be extended.
    pub extensions_left: u64,
    /// The backend that it is of.
    pub backend: String,
    /// Whether a call runs; the rest is of the time before it then.
    pub is_busy: bool,
    /// The Python interpreter.
    pub python: DriverStatus,
    /// The bash interpreter.
    pub bash: DriverStatus,
    /// What was printed since the last call, by what that left running. The next call shows it too.
    pub unread: Unread,
}

/// Output in the background, by interpreter.
#[derive(Debug, Clone, Default)]
pub struct Unread {
    /// Of what Python left running.
    pub python: Background,
    /// Of bash's jobs.
    pub bash: Background,
}

/// A session whose life was extended.
#[derive(Debug, Clone, Copy)]
pub struct Extended {
    /// Until it expires now, whatever is called.
    pub ends_in: Duration,
    /// How often its life can still be extended.
    pub extensions_left: u64,
}

/// One interpreter of a session.
#[derive(Debug, Clone, Default)]
pub struct DriverStatus {
    /// Whether there is one now.
    pub is_running: bool,
    /// The number of the last one; 0 before the first.
    pub generation: u64,
    /// The version of the one that runs.
    pub version: Option<String>,
}
