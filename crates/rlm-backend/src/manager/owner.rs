//! The task that owns one session: its place, its two interpreters, and the calls one after the other.
//!
//! A call whose caller has gone is interrupted, not dropped, so that the state is kept. The end of the
//! session is another matter: whatever runs is killed then.

use std::{
    io,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use confine::ChangeReport;
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    Disk, Ran, SessionError, SessionId,
    slot::{Calls, Question, Slot},
    status::{DriverStatus, Unread},
};
use crate::{Files, Language, OutputWatcher, Place, StateAfter};

/// How much of each stream an error repeats.
const MAX_REPEATED: usize = 500;
/// How many paths a line of the log has at most.
const MAX_LOGGED: usize = 8;

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
pub(super) enum Job {
    /// Runs code.
    Run { id: SessionId, run: Run, calls: Calls, cancel: CancellationToken, reply: Reply<Ran> },
    /// Sets or reads a variable of Python.
    Ask { question: Question, reply: Reply<Value> },
    /// Starts Python, where none runs.
    Start { reply: Reply<()> },
    /// Shows what was printed since the last call.
    Listen { reply: oneshot::Sender<Unread> },
    /// Works on the place, with what its disk holds; gives what it holds then, where that is another.
    /// The work answers by itself.
    Work(Box<Work>),
}

pub(super) type Work = dyn FnOnce(&dyn Place, Disk) -> Option<u64> + Send;

/// What a session leaves behind, or why it could not be freed.
pub(super) type Freed = io::Result<Option<ChangeReport>>;

pub(super) type Reply<T> = oneshot::Sender<Result<T, SessionError>>;

/// What the owner of a session shows of it.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) last_used: Instant,
    pub(super) is_busy: bool,
    pub(super) python: DriverStatus,
    pub(super) bash: DriverStatus,
}

/// Everything of a session. The interpreters go before the place.
pub(super) struct Owner {
    pub(super) python: Slot,
    pub(super) bash: Slot,
    pub(super) place: Arc<dyn Place>,
    pub(super) shown: Arc<Mutex<Shown>>,
    pub(super) max_output: usize,
    pub(super) disk: Disk,
    /// How often the place had lost what it held when a call last told so.
    pub(super) losses: u64,
}

impl Owner {
    /// Serves until nobody can ask any more, then frees everything and says so.
    pub(super) async fn own(
        mut self,
        mut jobs: mpsc::Receiver<Job>,
        end: CancellationToken,
        tell: oneshot::Sender<Freed>,
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
            Job::Run { id, run, calls, cancel, reply } => {
                if let Some(result) = self.run(id, run, calls, &cancel).await {
                    let _caller_may_be_gone = reply.send(result);
                }
            }
            Job::Ask { question, reply } => {
                self.show(true);
                let answer = self.python.ask(&self.place, question, self.max_output).await;
                let _asker_may_be_gone = reply.send(answer);
            }
            Job::Start { reply } => {
                let answer = self.python.start(&self.place, self.max_output).await;
                self.show(false);
                let _asker_may_be_gone = reply.send(answer);
            }
            Job::Listen { reply } => {
                let unread = Unread { python: self.python.unread(), bash: self.bash.unread() };
                let _asker_may_be_gone = reply.send(unread);
            }
            Job::Work(work) => {
                self.show(true);
                let (place, disk) = (Arc::clone(&self.place), self.disk);
                let worked = tokio::task::spawn_blocking(move || work(&*place, disk)).await;
                self.disk.held = worked.ok().flatten().unwrap_or(self.disk.held);
            }
        }
    }

    /// Runs code; nothing where nobody waits any more.
    async fn run(
        &mut self,
        id: SessionId,
        run: Run,
        calls: Calls,
        cancel: &CancellationToken,
    ) -> Option<Result<Ran, SessionError>> {
        if cancel.is_cancelled() {
            return None;
        }
        if let Err(full) = self.disk.check(id) {
            return Some(Err(full));
        }
        if Instant::now() >= run.deadline {
            return Some(Err(SessionError::Busy(id)));
        }
        self.show(true);
        on_files(&self.place, |files| files.begin()).await;
        let mut result = self.attended(&run, calls, cancel).await;
        if let Ok(ran) = &mut result {
            if let Some(lost) = self.lost(id, ran) {
                return Some(Err(lost));
            }
            self.look_at_files(ran).await;
            let losses = self.place.losses();
            ran.files_are_gone = losses != std::mem::replace(&mut self.losses, losses);
        }
        Some(result)
    }

    /// The error of a call in which the place was lost, where it was.
    fn lost(&self, session: SessionId, ran: &Ran) -> Option<SessionError> {
        let outcome = &ran.outcome;
        let why = (outcome.state == StateAfter::Lost).then(|| self.place.loss()).flatten()?;
        let texts = [&outcome.stdout, &outcome.stderr].map(|it| it.shrunk_to(MAX_REPEATED));
        let texts: Vec<_> = texts.iter().map(|it| it.text().to_string()).collect();
        let printed = match texts.concat().trim() {
            "" => String::new(),
            text => format!(". Before, it had printed: {text}"),
        };
        Some(SessionError::Lost { session, why, printed })
    }

    /// Runs a call, while the other interpreter's background output is taken in and the disk is watched.
    /// A call that fills the disk is interrupted as one that runs out of time is.
    async fn attended(
        &mut self,
        run: &Run,
        calls: Calls,
        cancel: &CancellationToken,
    ) -> Result<Ran, SessionError> {
        let (slot, other) = match run.language {
            Language::Python => (&mut self.python, &mut self.bash),
            Language::Bash => (&mut self.bash, &mut self.python),
        };
        let stop = cancel.child_token();
        let mut work = pin!(slot.run(&self.place, run, calls, self.max_output, &stop));
        let mut is_full = pin!(self.disk.fills(&self.place));
        let mut result = loop {
            tokio::select! {
                // Nothing else is asked where the call is over at once.
                biased;
                result = &mut work => break result,
                () = &mut is_full, if !stop.is_cancelled() => stop.cancel(),
                () = other.attend() => {}
            }
        };
        if let (Ok(ran), true) = (&mut result, stop.is_cancelled() && !cancel.is_cancelled()) {
            ran.outcome.ending.cancelled = false;
            ran.limit.get_or_insert_with(|| "disk".to_owned());
        }
        result
    }

    /// Says what a call made of the session's files, and how much there is now.
    async fn look_at_files(&mut self, ran: &mut Ran) {
        let Some(changes) = on_files(&self.place, |files| files.look()).await else { return };
        if let Some(held) = changes.held_bytes {
            self.disk.held = held;
            ran.over_disk = self.disk.is_full().then_some(self.disk);
        }
        ran.changes = changes;
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

    fn free(self) -> Freed {
        let Self { python, bash, place, .. } = self;
        drop((python, bash));
        let changes = place.changes().filter(|changes| !changes.is_empty());
        if let Some(changes) = &changes {
            log(changes);
        }
        place.close().map(|()| changes)
    }
}

/// Writes down what a session leaves behind, since nobody may be there to be told.
fn log(changes: &ChangeReport) {
    let found = changes.executable_configuration.iter();
    let paths: Vec<_> = found.take(MAX_LOGGED).map(|one| &one.path).collect();
    let all = &changes.changes;
    tracing::info!(
        created = all.created.len(),
        changed = all.changed.len(),
        deleted = all.deleted.len(),
        "a session has ended and leaves changes"
    );
    if !paths.is_empty() {
        let more = changes.executable_configuration.len() - paths.len();
        tracing::warn!(
            "a session made or changed what this machine may run later: {paths:?}, and {more} more"
        );
    }
}

/// Does something with a place's files; on another thread where that may take a while.
async fn on_files<T: Send + 'static>(
    place: &Arc<dyn Place>,
    work: fn(&dyn Files) -> T,
) -> Option<T> {
    if place.files()?.is_small() {
        return place.files().map(work);
    }
    let place = Arc::clone(place);
    tokio::task::spawn_blocking(move || place.files().map(work)).await.ok().flatten()
}
