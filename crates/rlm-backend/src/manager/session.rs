//! The handle of one session: calls go through it to the task that owns the session.
//!
//! A session can be begun before anybody asks for it, so that its interpreter runs already; it gets
//! its id, and its age, when it is claimed.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use confine::ChangeReport;
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout, timeout_at},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    Disk, Ran, SessionError, SessionId,
    owner::{Freed, Job, Owner, Run, Shown},
    slot::{Calls, Question, Slot},
    status::{DriverStatus, Unread},
};
use crate::{Language, Place, SandboxConfig};

/// How many calls may wait for a session.
const WAITING: usize = 64;
/// How long a status waits for what was printed in the background.
const LISTEN: Duration = Duration::from_millis(200);

/// A session; dropping the last handle ends it.
#[derive(Debug)]
pub(super) struct Session {
    id: SessionId,
    pub(super) created: Instant,
    begun: Begun,
}

/// A session that nobody has claimed yet; dropping it ends it.
#[derive(Debug)]
pub(super) struct Begun {
    backend: String,
    jobs: mpsc::Sender<Job>,
    shown: Arc<Mutex<Shown>>,
    ended: Mutex<Option<oneshot::Receiver<Freed>>>,
    _end: DropGuard,
    end: CancellationToken,
}

impl Begun {
    /// Begins a session in a place. It must be called within a runtime.
    pub(super) fn new(place: Box<dyn Place>, backend: String, config: &SandboxConfig) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING);
        let (tell, ended) = oneshot::channel();
        let (python, bash) = (DriverStatus::default(), DriverStatus::default());
        let shown = Shown { last_used: Instant::now(), is_busy: false, python, bash };
        let shown = Arc::new(Mutex::new(shown));
        let end = CancellationToken::new();
        let max = place.capacity().map_or(config.disk_bytes, |most| most.min(config.disk_bytes));
        let owner = Owner {
            python: Slot::new(Language::Python),
            bash: Slot::new(Language::Bash),
            place: Arc::from(place),
            shown: Arc::clone(&shown),
            max_output: config.output_bytes(),
            disk: Disk { held: 0, max },
            losses: 0,
        };
        tokio::spawn(owner.own(waiting, end.clone(), tell));
        let ended = Mutex::new(Some(ended));
        Self { backend, jobs, shown, ended, _end: end.clone().drop_guard(), end }
    }

    /// Starts its Python.
    pub(super) async fn start(&self) -> Result<(), SessionError> {
        let (reply, answer) = oneshot::channel();
        let gone = || io::Error::other("the session ended at its start");
        self.jobs.send(Job::Start { reply }).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Whether its Python runs, as far as its owner has heard.
    pub(super) fn is_started(&self) -> bool {
        !self.jobs.is_closed() && self.shown().python.is_running
    }

    /// Gives it a name; its time begins now.
    pub(super) fn claim(self, id: SessionId) -> Session {
        let created = Instant::now();
        self.lock().last_used = created;
        Session { id, created, begun: self }
    }

    fn shown(&self) -> Shown {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    pub(super) fn shown(&self) -> Shown {
        self.begun.shown()
    }

    /// Whether a call runs, and when the last one did.
    pub(super) fn last_use(&self) -> (bool, Instant) {
        let shown = self.begun.lock();
        (shown.is_busy, shown.last_used)
    }

    /// The name of the backend that it is of.
    pub(super) fn backend(&self) -> &str {
        &self.begun.backend
    }

    /// Whether its owner is gone, with the runtime that it was made in.
    pub(super) fn is_gone(&self) -> bool {
        self.begun.jobs.is_closed()
    }

    /// Counts as a use of it.
    pub(super) fn touch(&self) {
        self.begun.lock().last_used = Instant::now();
    }

    /// Runs a call after those that wait already.
    pub(super) async fn run(&self, run: Run, calls: Calls) -> Result<Ran, SessionError> {
        let (id, last) = (self.id, run.deadline + run.grace);
        let cancel = CancellationToken::new();
        let _interrupt_when_dropped = cancel.clone().drop_guard();
        let (reply, answer) = oneshot::channel();
        let job = Job::Run { id, run, calls, cancel, reply };
        let sent = timeout_at(last, self.begun.jobs.send(job)).await;
        sent.map_err(|_| SessionError::Busy(id))?.map_err(|_| SessionError::Ended(id))?;
        answer.await.map_err(|_| SessionError::Ended(id))?
    }

    /// Sets or reads a variable of the Python interpreter, after the calls that wait already.
    pub(super) async fn ask(&self, question: Question) -> Result<Value, SessionError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Ask { question, reply }).await?;
        answer.await.map_err(|_| SessionError::Ended(self.id))?
    }

    /// Works on the place, after the calls that wait already. The work gives its answer, and how much
    /// the place holds then, where that is another.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Place, Disk) -> (Result<T, SessionError>, Option<u64>) + Send + 'static,
    ) -> Result<T, SessionError> {
        let (reply, answer) = oneshot::channel();
        let work = move |place: &dyn Place, disk: Disk| {
            // Where nobody waits any more, nothing is done.
            if reply.is_closed() {
                return None;
            }
            let (result, held) = work(place, disk);
            let _asker_may_be_gone = reply.send(result);
            held
        };
        self.send(Job::Work(Box::new(work))).await?;
        answer.await.map_err(|_| SessionError::Ended(self.id))?
    }

    /// What was printed since the last call; nothing while a call runs.
    pub(super) async fn unread(&self) -> Unread {
        let (reply, answer) = oneshot::channel();
        if self.shown().is_busy || self.begun.jobs.try_send(Job::Listen { reply }).is_err() {
            return Unread::default();
        }
        timeout(LISTEN, answer).await.ok().and_then(Result::ok).unwrap_or_default()
    }

    async fn send(&self, job: Job) -> Result<(), SessionError> {
        self.begun.jobs.send(job).await.map_err(|_| SessionError::Ended(self.id))
    }

    /// Ends it, whoever holds it and whatever runs.
    pub(super) fn end(&self) {
        self.begun.end.cancel();
    }

    /// Ends it, and waits until everything of it is freed; says what it leaves behind.
    pub(super) async fn destroy(&self) -> Result<Option<ChangeReport>, SessionError> {
        self.end();
        let ended = self.begun.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(ended) = ended else { return Err(SessionError::Destroyed(self.id)) };
        match ended.await {
            Ok(Err(error)) => {
                Err(SessionError::Teardown { id: self.id, message: error.to_string() })
            }
            Ok(Ok(changes)) => Ok(changes),
            Err(_) => Ok(None),
        }
    }
}
