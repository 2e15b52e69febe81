//! What a recursive query needs of a session beside plain calls: files of the host that it can read,
//! answers to what its code asks, and a part of the driver.

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;

use super::{Ran, Run, SessionError, SessionId, SessionManager, Shared, slot::Question};
use crate::{HostCalls, driver::Part};

impl SessionManager {
    /// Makes a session that can read these files of the host, under their own paths.
    ///
    /// # Errors
    ///
    /// Too many sessions, or a backend that can't be had, or can't do that.
    pub(crate) async fn create_reading(
        &self,
        files: Vec<PathBuf>,
    ) -> Result<SessionId, SessionError> {
        if files.is_empty() {
            return self.create().await;
        }
        let _one_at_a_time = self.shared.making.lock().await;
        self.shared.table().check_room()?;
        let begun = self.shared.pool.begin(files).await?;
        Ok(Shared::add(&self.shared, SessionId::new()?, begun).0)
    }

    /// Runs code whose calls to the host are answered.
    pub(crate) async fn run_answering(
        &self,
        id: SessionId,
        run: Run,
        calls: Arc<dyn HostCalls>,
    ) -> Result<Ran, SessionError> {
        let session = self.shared.table().find(id)?;
        session.run(run, Some(calls)).await
    }

    /// Calls a function of a part of the session's Python driver.
    pub(crate) async fn call_part(
        &self,
        id: SessionId,
        part: Part,
        call: &'static str,
        args: Value,
    ) -> Result<Value, SessionError> {
        let session = self.shared.table().find(id)?;
        session.ask(Question::Part { part, call, args }).await
    }
}
