//! Snapshots of a session's files, between its calls.

use super::{SessionError, SessionId, SessionManager};
use crate::{Place, Snapshot, SnapshotError, Snapshots};

const NONE: SnapshotError = SnapshotError::Unsupported {
    why: "only a session's private directory on this machine has them",
};

impl SessionManager {
    /// Keeps a session's files as they are.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn create_snapshot(&self, id: SessionId) -> Result<Snapshot, SessionError> {
        self.on_snapshots(id, |snapshots| snapshots.create()).await
    }

    /// Puts a session's files back as they were. Its interpreters go on, with their variables.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn restore_snapshot(
        &self,
        id: SessionId,
        snapshot: &str,
    ) -> Result<Snapshot, SessionError> {
        let snapshot = snapshot.to_owned();
        self.on_snapshots(id, move |snapshots| snapshots.restore(&snapshot)).await
    }

    /// The snapshots of a session, oldest first.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn snapshots(&self, id: SessionId) -> Result<Vec<Snapshot>, SessionError> {
        self.on_snapshots(id, |snapshots| Ok(snapshots.list())).await
    }

    /// Forgets a snapshot of a session.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn delete_snapshot(&self, id: SessionId, snapshot: &str) -> Result<(), SessionError> {
        let snapshot = snapshot.to_owned();
        self.on_snapshots(id, move |snapshots| snapshots.delete(&snapshot)).await
    }

    async fn on_snapshots<T: Send + 'static>(
        &self,
        id: SessionId,
        work: impl FnOnce(&dyn Snapshots) -> Result<T, SnapshotError> + Send + 'static,
    ) -> Result<T, SessionError> {
        let session = self.shared.table().find(id)?;
        let on_place = move |place: &dyn Place, _| {
            let answer = place.snapshots().map_or(Err(NONE), work);
            // What was put back is no change of the next call.
            let held = place.files().and_then(|files| files.look().held_bytes);
            (answer.map_err(SessionError::from), held)
        };
        session.work(on_place).await
    }
}
