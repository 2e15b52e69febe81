//! Sessions by their ids: made, found, ended in time.
//!
//! Nothing runs before the first call: a manager that nobody calls has no process and no directory.
//! A session has a Python and a bash interpreter in one working directory, each started by its first
//! call. Sessions end when they are destroyed, when they expire, and with the manager.

mod error;
mod id;
mod session;
mod slot;
mod status;
mod table;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use serde_json::Value;
use tokio::time::Instant;

use self::{session::Session, slot::Question, table::Table};
use crate::{Backend, SandboxConfig};

pub use error::SessionError;
pub use id::SessionId;
pub use session::Run;
pub use slot::Ran;
pub use status::{DriverStatus, SessionStatus};

/// The sessions of one program.
#[derive(Debug)]
pub struct SessionManager {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    backend: Arc<dyn Backend>,
    config: SandboxConfig,
    table: Mutex<Table>,
    /// One session is made at a time, so that there are never too many.
    making: tokio::sync::Mutex<()>,
}

impl SessionManager {
    /// A manager without a session. Starts nothing.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>, config: SandboxConfig) -> Self {
        let table = Mutex::new(Table::new(&config));
        Self { shared: Arc::new(Shared { backend, config, table, making: Default::default() }) }
    }

    /// Makes a session.
    ///
    /// # Errors
    ///
    /// Too many sessions, or a backend that can't be had.
    pub async fn create(&self) -> Result<SessionId, SessionError> {
        let _one_at_a_time = self.shared.making.lock().await;
        Shared::create(&self.shared).await.map(|(id, _)| id)
    }

    /// Runs code in a session: in that one, or in the default one, which is made where there is none.
    ///
    /// A caller that drops the future interrupts the code and keeps the session.
    ///
    /// # Errors
    ///
    /// [`SessionError`], where nothing was run.
    pub async fn run(
        &self,
        session: Option<SessionId>,
        run: Run,
    ) -> Result<(SessionId, Ran), SessionError> {
        let (id, session) = match session {
            Some(id) => (id, self.shared.table().find(id)?),
            None => self.default_session().await?,
        };
        let ran = session.run(run).await?;
        Ok((id, ran))
    }

    async fn default_session(&self) -> Result<(SessionId, Arc<Session>), SessionError> {
        let _one_at_a_time = self.shared.making.lock().await;
        if let Some(there) = self.shared.table().default_session() {
            return Ok(there);
        }
        let (id, session) = Shared::create(&self.shared).await?;
        self.shared.table().set_default(id);
        Ok((id, session))
    }

    /// Sets a context variable of a session's Python: it is there before every call, also where code
    /// bound its name to something else, and in every new interpreter.
    ///
    /// # Errors
    ///
    /// There is no such session, or the name is none.
    pub async fn set_variable(
        &self,
        id: SessionId,
        name: &str,
        value: Value,
    ) -> Result<(), SessionError> {
        let session = self.shared.table().find(id)?;
        session.ask(Question::Set { name: name.to_owned(), value }).await.map(drop)
    }

    /// Reads a variable of a session's Python as JSON.
    ///
    /// # Errors
    ///
    /// There is no such session or variable, or its value is not JSON.
    pub async fn variable(&self, id: SessionId, name: &str) -> Result<Value, SessionError> {
        let session = self.shared.table().find(id)?;
        session.ask(Question::Get { name: name.to_owned() }).await
    }

    /// What is known of a session.
    ///
    /// # Errors
    ///
    /// There is no such session.
    pub fn status(&self, id: SessionId) -> Result<SessionStatus, SessionError> {
        let mut table = self.shared.table();
        let session = table.find(id)?;
        let shown = session.shown();
        let left = table.expires(&session).saturating_duration_since(Instant::now());
        Ok(SessionStatus {
            id,
            age: session.created.elapsed(),
            expires_in: left,
            is_busy: shown.is_busy,
            python: shown.python,
            bash: shown.bash,
        })
    }

    /// Ends a session, and returns when its processes and its private directory are gone.
    ///
    /// # Errors
    ///
    /// There is no such session, or its directory could not be deleted.
    pub async fn destroy(&self, id: SessionId) -> Result<(), SessionError> {
        let session = self.shared.table().take(id)?;
        session.destroy().await
    }

    /// How many sessions there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shared.table().count()
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn create(shared: &Arc<Self>) -> Result<(SessionId, Arc<Session>), SessionError> {
        shared.table().check_room()?;
        let id = SessionId::new()?;
        let backend = Arc::clone(&shared.backend);
        let place = tokio::task::spawn_blocking(move || backend.open()).await;
        let place = place.map_err(std::io::Error::other)??;
        let session = Arc::new(Session::begin(id, place, shared.config.output_bytes()));
        shared.table().add(id, Arc::clone(&session));
        tokio::spawn(expire(Arc::downgrade(shared), id));
        Ok((id, session))
    }
}

/// Ends a session when its time has come, also where nobody calls any more.
async fn expire(shared: Weak<Shared>, id: SessionId) {
    loop {
        let Some(next) = shared.upgrade().and_then(|shared| shared.table().next_look(id)) else {
            return;
        };
        // A manager that ends must not be kept by this.
        tokio::time::sleep_until(next.min(Instant::now() + Duration::from_secs(60))).await;
    }
}
