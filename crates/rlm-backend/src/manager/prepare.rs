//! Waiting for what a backend has to get before it can make a session, such as an image.
//!
//! Nothing else waits behind it: no lock is held, and every caller has a deadline of its own.

use std::sync::Arc;

use super::{SessionError, SessionManager};
use crate::Waiting;

impl SessionManager {
    /// Returns when sessions can be made without a wait for what takes long to get. Where the time is
    /// over before, the getting goes on, and a later call finds it.
    ///
    /// # Errors
    ///
    /// A backend that can't be had, or is not ready in time.
    pub async fn prepare(&self, waiting: Waiting) -> Result<(), SessionError> {
        let backends = self.shared.pool.backends();
        if backends.is_prepared() {
            return Ok(());
        }
        let backends = Arc::clone(backends);
        let prepared = tokio::task::spawn_blocking(move || backends.prepare(&waiting)).await;
        Ok(prepared.map_err(std::io::Error::other)??)
    }

    /// The same where a call of the default session would make one.
    ///
    /// # Errors
    ///
    /// As of [`SessionManager::prepare`].
    pub async fn prepare_default(&self, waiting: Waiting) -> Result<(), SessionError> {
        let is_there = self.shared.table().default_session().is_some();
        if is_there { Ok(()) } else { self.prepare(waiting).await }
    }
}
