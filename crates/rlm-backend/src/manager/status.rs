//! What is known of a session without asking its code.

use std::time::Duration;

use super::SessionId;

/// A session as `session_status` shows it.
#[derive(Debug)]
pub struct SessionStatus {
    /// Which.
    pub id: SessionId,
    /// Since it was made.
    pub age: Duration,
    /// Until it expires, if nothing is called.
    pub expires_in: Duration,
    /// Whether a call runs; the rest is of the time before it then.
    pub is_busy: bool,
    /// The Python interpreter.
    pub python: DriverStatus,
    /// The bash interpreter.
    pub bash: DriverStatus,
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
