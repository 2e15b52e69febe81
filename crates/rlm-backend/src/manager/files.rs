//! Files into a session and out of it, between its calls.

use std::sync::Arc;

use super::{SessionError, SessionId, SessionManager, session::Session};
use crate::{FileError, FilePart, Files};

impl SessionManager {
    /// Puts a file into a session's directory: in that one, or in the default one, which is made where
    /// there is none. A file that is there is replaced where `overwrite` says so.
    ///
    /// # Errors
    ///
    /// [`SessionError`]; no file was changed.
    pub async fn put_file(
        &self,
        session: Option<SessionId>,
        path: &str,
        content: Vec<u8>,
        overwrite: bool,
    ) -> Result<SessionId, SessionError> {
        let (bytes, max) = (content.len() as u64, self.shared.max_file_bytes);
        if bytes > max {
            return Err(FileError::TooLarge { bytes, max }.into());
        }
        let (id, session) = self.session_or_default(session).await?;
        let path = path.to_owned();
        let put = session.work(move |place, disk| {
            if let Err(full) = disk.check(id) {
                return (Err(full), None);
            }
            match place.files() {
                Some(files) => {
                    let put = files.put(&path, &content, overwrite).map_err(SessionError::from);
                    (put, files.look().held_bytes)
                }
                None => (Err(FileError::Unsupported.into()), None),
            }
        });
        put.await.map(|()| id)
    }

    /// Reads at most `limit` bytes of a file of a session's directory, from `offset` on.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn get_file(
        &self,
        session: Option<SessionId>,
        path: &str,
        offset: u64,
        limit: usize,
    ) -> Result<(SessionId, FilePart), SessionError> {
        let (id, session) = self.session_or_default(session).await?;
        let path = path.to_owned();
        let get = move |files: &dyn Files| files.get(&path, offset, limit);
        let part = session.work(move |place, _| {
            let part = place.files().map_or(Err(FileError::Unsupported), get);
            (part.map_err(SessionError::from), None)
        });
        Ok((id, part.await?))
    }

    pub(super) async fn session_or_default(
        &self,
        session: Option<SessionId>,
    ) -> Result<(SessionId, Arc<Session>), SessionError> {
        match session {
            Some(id) => Ok((id, self.shared.table().find(id)?)),
            None => self.default_session().await,
        }
    }
}
