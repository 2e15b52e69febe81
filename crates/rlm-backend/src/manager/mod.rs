//! Sessions by their ids: made, found, ended in time.
//!
//! Nothing runs before the first call: a manager that nobody calls has no process and no directory.
//! A session has a Python and a bash interpreter in one working directory, each started by its first
//! call, or before it where the pool had one ready. Sessions end when they are destroyed, when they
//! expire, and with the manager.

mod disk;
mod error;
mod files;
mod id;
mod owner;
mod pool;
mod prepare;
mod query;
mod session;
mod slot;
mod snapshots;
mod status;
mod table;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use confine::ChangeReport;
use serde_json::Value;
use tokio::time::Instant;

use self::{
    pool::Pool,
    session::{Begun, Session},
    slot::Question,
    table::{Expiry, Table},
};
use crate::{Backend, Backends, SandboxConfig};

pub use disk::Disk;
pub use error::SessionError;
pub use id::SessionId;
pub use owner::Run;
pub use slot::Ran;
pub use status::{DriverStatus, Extended, SessionStatus, Unread};

/// The sessions of one program.
#[derive(Debug)]
pub struct SessionManager {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    pool: Arc<Pool>,
    table: Mutex<Table>,
    max_file_bytes: u64,
    /// One session is made at a time, so that there are never too many.
    making: tokio::sync::Mutex<()>,
}

impl SessionManager {
    /// A manager without a session. Starts nothing.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>, config: SandboxConfig) -> Self {
        Self::with_backends(vec![backend], config)
    }

    /// A manager over the first of these backends that can be had. Starts nothing.
    #[must_use]
    pub fn with_backends(backends: Vec<Arc<dyn Backend>>, config: SandboxConfig) -> Self {
        let table = Mutex::new(Table::new(&config));
        let max_file_bytes = config.max_file_bytes;
        let pool = Arc::new(Pool::new(Arc::new(Backends::new(backends)), config));
        let shared = Shared { pool, table, max_file_bytes, making: tokio::sync::Mutex::default() };
        Self { shared: Arc::new(shared) }
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
        let (id, session) = self.session_or_default(session).await?;
        let ran = session.run(run, None).await?;
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
    pub async fn status(&self, id: SessionId) -> Result<SessionStatus, SessionError> {
        let (session, Expiry { idle, end, extensions_left }) = {
            let mut table = self.shared.table();
            (table.find(id)?, table.expiry(id)?)
        };
        let (unread, now, shown) = (session.unread().await, Instant::now(), session.shown());
        Ok(SessionStatus {
            id,
            age: session.created.elapsed(),
            expires_in: idle.saturating_duration_since(now),
            ends_in: end.saturating_duration_since(now),
            extensions_left,
            backend: session.backend().to_owned(),
            is_busy: shown.is_busy,
            python: shown.python,
            bash: shown.bash,
            unread,
        })
    }

    /// Lets a session live longer, by as much and as often as the configuration says.
    ///
    /// # Errors
    ///
    /// There is no such session, or it was extended as often as it may be.
    pub fn extend(&self, id: SessionId) -> Result<Extended, SessionError> {
        let Expiry { end, extensions_left, .. } = self.shared.table().extend(id)?;
        let ends_in = end.saturating_duration_since(Instant::now());
        Ok(Extended { ends_in, extensions_left })
    }

    /// How a session that ends within this time can be kept, where it does: whatever is called, it is
    /// over then. `None` also where there is no such session.
    #[must_use]
    pub fn ends_within(&self, id: SessionId, time: Duration) -> Option<Extended> {
        let Expiry { end, extensions_left, .. } = self.shared.table().expiry(id).ok()?;
        let ends_in = end.saturating_duration_since(Instant::now());
        (ends_in <= time).then_some(Extended { ends_in, extensions_left })
    }

    /// The name of the backend that a session is of, where there is more than one that it could be.
    /// `None` also where there is no such session.
    #[must_use]
    pub fn chosen_backend(&self, id: SessionId) -> Option<String> {
        self.shared.pool.is_choice().then(|| self.backend(id).ok()).flatten()
    }

    /// The name of the backend that a session is of.
    ///
    /// # Errors
    ///
    /// There is no such session.
    pub fn backend(&self, id: SessionId) -> Result<String, SessionError> {
        Ok(self.shared.table().find(id)?.backend().to_owned())
    }

    /// Ends a session, and returns when its processes and its private directory are gone. Gives what
    /// became of a directory that it leaves behind, where something did.
    ///
    /// # Errors
    ///
    /// There is no such session, or its directory could not be deleted.
    pub async fn destroy(&self, id: SessionId) -> Result<Option<ChangeReport>, SessionError> {
        let session = self.shared.table().take(id)?;
        session.destroy().await
    }

    /// How many sessions there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shared.table().count()
    }

    /// How many sessions are ready to be made at once; they count as none yet.
    #[must_use]
    pub fn warm_count(&self) -> usize {
        self.shared.pool.count()
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn create(shared: &Arc<Self>) -> Result<(SessionId, Arc<Session>), SessionError> {
        shared.table().check_room()?;
        let id = SessionId::new()?;
        let begun = match shared.pool.take() {
            Some(begun) => begun,
            None => shared.pool.begin(Vec::new()).await?,
        };
        Ok(Self::add(shared, id, begun))
    }

    /// Takes a session in that was begun.
    fn add(shared: &Arc<Self>, id: SessionId, begun: Begun) -> (SessionId, Arc<Session>) {
        let session = Arc::new(begun.claim(id));
        shared.table().add(id, Arc::clone(&session));
        tokio::spawn(expire(Arc::downgrade(shared), id));
        shared.pool.refill();
        (id, session)
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
