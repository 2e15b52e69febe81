//! The task that owns one session: its place, its two interpreters, and the calls one after the other.
//!
//! A call whose caller has gone is interrupted, not dropped, so that the state is kept. The end of the
//! session is another matter: whatever runs is killed then.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout_at},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    Ran, SessionError, SessionId,
    slot::{Question, Slot},
    status::DriverStatus,
};
use crate::{Language, OutputWatcher, Place};

/// How many calls may wait for a session.
const WAITING: usize = 64;

/// A call.
#[derive(Debug)]
pub struct Run {
    /// The interpreter.
    pub language: Language,
    /// What to run.
    pub code: String,
    /// When it is interrupted.
    pub deadline: Instant,
    /// How long after that it may take to end.
    pub grace: Duration,
    /// Sees the output while the code runs.
    pub watcher: Option<Arc<dyn OutputWatcher>>,
}

/// What the owner of a session is asked for.
enum Job {
    Run { run: Run, cancel: CancellationToken, reply: Reply<Ran> },
    Ask { question: Question, reply: Reply<Value> },
}

type Reply<T> = oneshot::Sender<Result<T, SessionError>>;

/// What the owner of a session shows of it.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) last_used: Instant,
    pub(super) is_busy: bool,
    pub(super) python: DriverStatus,
    pub(super) bash: DriverStatus,
}

/// A session; dropping the last handle ends it.
#[derive(Debug)]
pub(super) struct Session {
    id: SessionId,
    pub(super) created: Instant,
    jobs: mpsc::Sender<Job>,
    shown: Arc<Mutex<Shown>>,
    ended: Mutex<Option<oneshot::Receiver<io::Result<()>>>>,
    _end: DropGuard,
    end: CancellationToken,
}

impl Session {
    /// Begins a session in a place. It must be called within a runtime.
    pub(super) fn begin(id: SessionId, place: Box<dyn Place>, max_output: usize) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING);
        let (tell, ended) = oneshot::channel();
        let now = Instant::now();
        let (python, bash) = (DriverStatus::default(), DriverStatus::default());
        let shown = Shown { last_used: now, is_busy: false, python, bash };
        let shown = Arc::new(Mutex::new(shown));
        let end = CancellationToken::new();
        let owner = Owner {
            id,
            python: Slot::new(Language::Python),
            bash: Slot::new(Language::Bash),
            place: Arc::from(place),
            shown: Arc::clone(&shown),
            max_output,
        };
        tokio::spawn(owner.own(waiting, end.clone(), tell));
        let ended = Mutex::new(Some(ended));
        Self { id, created: now, jobs, shown, ended, _end: end.clone().drop_guard(), end }
    }

    pub(super) fn shown(&self) -> Shown {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether its owner is gone, with the runtime that it was made in.
    pub(super) fn is_gone(&self) -> bool {
        self.jobs.is_closed()
    }

    /// Runs a call after those that wait already.
    pub(super) async fn run(&self, run: Run) -> Result<Ran, SessionError> {
        let last = run.deadline + run.grace;
        let cancel = CancellationToken::new();
        let _interrupt_when_dropped = cancel.clone().drop_guard();
        let (reply, answer) = oneshot::channel();
        let sent = timeout_at(last, self.jobs.send(Job::Run { run, cancel, reply })).await;
        sent.map_err(|_| SessionError::Busy(self.id))?.map_err(|_| SessionError::Ended(self.id))?;
        answer.await.map_err(|_| SessionError::Ended(self.id))?
    }

    /// Sets or reads a variable of the Python interpreter, after the calls that wait already.
    pub(super) async fn ask(&self, question: Question) -> Result<Value, SessionError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.jobs.send(Job::Ask { question, reply }).await;
        sent.map_err(|_| SessionError::Ended(self.id))?;
        answer.await.map_err(|_| SessionError::Ended(self.id))?
    }

    /// Ends it, and waits until everything of it is freed.
    pub(super) async fn destroy(&self) -> Result<(), SessionError> {
        self.end.cancel();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(ended) = ended else { return Err(SessionError::Destroyed(self.id)) };
        match ended.await {
            Ok(Err(error)) => {
                Err(SessionError::Teardown { id: self.id, message: error.to_string() })
            }
            _ => Ok(()),
        }
    }
}

/// Everything of a session. The interpreters go before the place.
struct Owner {
    id: SessionId,
    python: Slot,
    bash: Slot,
    place: Arc<dyn Place>,
    shown: Arc<Mutex<Shown>>,
    max_output: usize,
}

impl Owner {
    async fn own(
        mut self,
        mut jobs: mpsc::Receiver<Job>,
        end: CancellationToken,
        tell: oneshot::Sender<io::Result<()>>,
    ) {
        tokio::select! {
            () = end.cancelled() => {}
            () = self.serve(&mut jobs) => {}
        }
        drop(jobs);
        let freed = tokio::task::spawn_blocking(move || self.free()).await;
        let _nobody_may_wait =
            tell.send(freed.unwrap_or_else(|error| Err(io::Error::other(error))));
    }

    async fn serve(&mut self, jobs: &mut mpsc::Receiver<Job>) {
        loop {
            tokio::select! {
                job = jobs.recv() => match job {
                    Some(job) => self.work(job).await,
                    None => return,
                },
                () = self.python.attend() => {}
                () = self.bash.attend() => {}
            }
            self.show(false);
        }
    }

    async fn work(&mut self, job: Job) {
        match job {
            Job::Run { run, cancel, reply } => self.run(run, cancel, reply).await,
            Job::Ask { question, reply } => {
                self.show(true);
                let answer = self.python.ask(&self.place, question, self.max_output).await;
                let _asker_may_be_gone = reply.send(answer);
            }
        }
    }

    async fn run(&mut self, run: Run, cancel: CancellationToken, reply: Reply<Ran>) {
        if cancel.is_cancelled() {
            return;
        }
        if Instant::now() >= run.deadline {
            let _caller_may_be_gone = reply.send(Err(SessionError::Busy(self.id)));
            return;
        }
        self.show(true);
        let (slot, other) = match run.language {
            Language::Python => (&mut self.python, &mut self.bash),
            Language::Bash => (&mut self.bash, &mut self.python),
        };
        let work = slot.run(&self.place, &run, self.max_output, &cancel);
        let mut work = std::pin::pin!(work);
        let result = loop {
            tokio::select! {
                result = &mut work => break result,
                () = other.attend() => {}
            }
        };
        let _caller_may_be_gone = reply.send(result);
    }

    fn show(&self, is_busy: bool) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if is_busy || shown.is_busy {
            shown.last_used = Instant::now();
        }
        shown.is_busy = is_busy;
        shown.python = self.python.status();
        shown.bash = self.bash.status();
    }

    fn free(self) -> io::Result<()> {
        let Self { python, bash, place, .. } = self;
        drop((python, bash));
        place.close()
    }
}
