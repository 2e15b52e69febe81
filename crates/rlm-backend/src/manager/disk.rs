//! How much a session's private directory holds, and how much it may.
//!
//! It is measured after each call, and a session that holds more takes no more code and no more files:
//! what is there can still be got out of it. While a call runs it is measured every second, or more
//! seldom where that takes long, and the call is interrupted; the size of a single file is bounded by
//! the kernel. A user without privileges has no quota to set.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};

use super::{SessionError, SessionId};
use crate::{Files, Place};

/// How often the directory is measured while a call runs.
const LOOK: Duration = Duration::from_secs(1);
/// A measure that takes long is not repeated before this many times its length.
const PATIENCE: u32 = 20;

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

    /// Returns when the place holds more than it may; never where that can't be told.
    pub(super) async fn fills(self, place: &Arc<dyn Place>) {
        let mut pause = LOOK;
        loop {
            sleep(pause).await;
            let (begun, place) = (Instant::now(), Arc::clone(place));
            let measure = move || place.files().and_then(Files::measure);
            match tokio::task::spawn_blocking(measure).await {
                Ok(Some(held)) if held > self.max => return,
                Ok(Some(_)) => pause = LOOK.max(begun.elapsed() * PATIENCE),
                _ => return std::future::pending().await,
            }
        }
    }

    pub(super) fn check(self, session: SessionId) -> Result<(), SessionError> {
        if self.is_full() { Err(SessionError::DiskFull { session, disk: self }) } else { Ok(()) }
    }
}
