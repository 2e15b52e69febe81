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

/// A session, and how often its life was extended.
#[derive(Debug)]
struct Entry {
    session: Arc<Session>,
    extensions: u32,
}

/// When a session ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expiry {
    /// If nothing is called any more.
    pub(super) idle: Instant,
    /// Whatever is called.
    pub(super) end: Instant,
    /// How often the end can still be put off.
    pub(super) extensions_left: u64,
}

#[derive(Debug)]
pub(super) struct Table {
    live: BTreeMap<SessionId, Entry>,
    gone: VecDeque<(SessionId, Gone)>,
    default: Option<SessionId>,
    max: u64,
    lifetime: Duration,
    max_extensions: u64,
    extension: Duration,
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
            max_extensions: config.session_extensions,
            extension: Duration::from_secs(config.session_extension_secs),
            idle: Duration::from_secs(config.idle_secs),
        }
    }

    pub(super) fn add(&mut self, id: SessionId, session: Arc<Session>) {
        self.live.insert(id, Entry { session, extensions: 0 });
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
        let id = self.default?;
        self.find(id).ok().map(|session| (id, session))
    }

    /// A session whose time is not over. The others are not looked at, however many there are.
    pub(super) fn find(&mut self, id: SessionId) -> Result<Arc<Session>, SessionError> {
        if self.live.get(&id).is_some_and(|entry| self.is_over(entry, Instant::now())) {
            self.expire(id);
        }
        let session = self.live.get(&id).map(|entry| Arc::clone(&entry.session));
        session.ok_or_else(|| self.missing(id))
    }

    /// Puts a session's end off, which counts as a use of it.
    pub(super) fn extend(&mut self, id: SessionId) -> Result<Expiry, SessionError> {
        self.find(id)?.touch();
        let max = self.max_extensions;
        match self.live.get_mut(&id) {
            Some(entry) if u64::from(entry.extensions) < max => entry.extensions += 1,
            _ => return Err(SessionError::NoMoreExtensions { session: id, max }),
        }
        self.expiry(id)
    }

    /// When a session ends.
    pub(super) fn expiry(&mut self, id: SessionId) -> Result<Expiry, SessionError> {
        self.find(id)?;
        self.live.get(&id).map(|entry| self.expiry_of(entry)).ok_or_else(|| self.missing(id))
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

    fn expiry_of(&self, entry: &Entry) -> Expiry {
        let end = entry.session.created + self.lifetime + self.extension * entry.extensions;
        let (is_busy, last_used) = entry.session.last_use();
        let idle = if is_busy { end } else { end.min(last_used + self.idle) };
        let extensions_left = self.max_extensions - u64::from(entry.extensions);
        Expiry { idle, end, extensions_left }
    }

    /// When to look at a session again, which is removed here if its time has come.
    pub(super) fn next_look(&mut self, id: SessionId) -> Option<Instant> {
        self.find(id).ok()?;
        let entry = self.live.get(&id)?;
        // A call that runs may end at any moment, and the idle time begins then.
        let soon = Instant::now() + self.idle;
        Some(self.expiry_of(entry).idle.min(soon))
    }

    fn is_over(&self, entry: &Entry, now: Instant) -> bool {
        entry.session.is_gone() || self.expiry_of(entry).idle <= now
    }

    fn sweep(&mut self) {
        let now = Instant::now();
        let over: Vec<SessionId> = self
            .live
            .iter()
            .filter(|(_, entry)| self.is_over(entry, now))
            .map(|(id, _)| *id)
            .collect();
        over.into_iter().for_each(|id| self.expire(id));
    }

    /// Ends a session. A call that runs holds it too, so it is told.
    fn expire(&mut self, id: SessionId) {
        if let Some(entry) = self.live.get(&id) {
            entry.session.end();
        }
        self.remove(id, Gone::Expired);
    }
}
