//! Which sessions there are, which there were, and which is the default one.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use super::{SessionError, SessionId, session::Session};
use crate::SandboxConfig;

/// How many ended sessions are remembered, for the sake of a better error.
const REMEMBERED: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gone {
    Destroyed,
    Expired,
}

#[derive(Debug)]
pub(super) struct Table {
    live: BTreeMap<SessionId, Arc<Session>>,
    gone: VecDeque<(SessionId, Gone)>,
    default: Option<SessionId>,
    max: u64,
    lifetime: Duration,
    idle: Duration,
}

impl Table {
    pub(super) fn new(config: &SandboxConfig) -> Self {
        Self {
            live: BTreeMap::new(),
            gone: VecDeque::new(),
            default: None,
            max: config.max_sessions,
            lifetime: Duration::from_secs(config.session_lifetime_secs),
            idle: Duration::from_secs(config.idle_secs),
        }
    }

    pub(super) fn add(&mut self, id: SessionId, session: Arc<Session>) {
        self.live.insert(id, session);
    }

    pub(super) fn set_default(&mut self, id: SessionId) {
        self.default = Some(id);
    }

    pub(super) fn count(&mut self) -> usize {
        self.sweep();
        self.live.len()
    }

    /// Refuses one more session where there are as many as there may be.
    pub(super) fn check_room(&mut self) -> Result<(), SessionError> {
        let count = u64::try_from(self.count()).unwrap_or(u64::MAX);
        if count < self.max { Ok(()) } else { Err(SessionError::TooMany { max: self.max }) }
    }

    pub(super) fn default_session(&mut self) -> Option<(SessionId, Arc<Session>)> {
        self.sweep();
        let id = self.default?;
        self.live.get(&id).map(|session| (id, Arc::clone(session)))
    }

    pub(super) fn find(&mut self, id: SessionId) -> Result<Arc<Session>, SessionError> {
        self.sweep();
        self.live.get(&id).map(Arc::clone).ok_or_else(|| self.missing(id))
    }

    /// Takes a session out, to be destroyed.
    pub(super) fn take(&mut self, id: SessionId) -> Result<Arc<Session>, SessionError> {
        let session = self.find(id)?;
        self.remove(id, Gone::Destroyed);
        Ok(session)
    }

    fn missing(&self, id: SessionId) -> SessionError {
        match self.gone.iter().find(|(gone, _)| *gone == id) {
            Some((_, Gone::Destroyed)) => SessionError::Destroyed(id),
            Some((_, Gone::Expired)) => SessionError::Expired(id),
            None => SessionError::Unknown(id),
        }
    }

    fn remove(&mut self, id: SessionId, why: Gone) {
        self.live.remove(&id);
        self.gone.truncate(REMEMBERED - 1);
        self.gone.push_front((id, why));
    }

    /// When a session expires, if nothing is called any more.
    pub(super) fn expires(&self, session: &Session) -> Instant {
        let end = session.created + self.lifetime;
        let shown = session.shown();
        if shown.is_busy { end } else { end.min(shown.last_used + self.idle) }
    }

    /// When to look at a session again, which is removed here if its time has come.
    pub(super) fn next_look(&mut self, id: SessionId) -> Option<Instant> {
        self.sweep();
        let session = self.live.get(&id)?;
        // A call that runs may end at any moment, and the idle time begins then.
        let soon = Instant::now() + self.idle;
        Some(self.expires(session).min(soon))
    }

    fn sweep(&mut self) {
        let now = Instant::now();
        let is_over = |session: &Session| session.is_gone() || self.expires(session) <= now;
        let over: Vec<SessionId> =
            self.live.iter().filter(|(_, session)| is_over(session)).map(|(id, _)| *id).collect();
        for id in over {
            self.remove(id, Gone::Expired);
        }
    }
}
