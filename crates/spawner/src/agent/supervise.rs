//! The task that owns an agent: its work, its timers, what is asked of it, and its end.
//!
//! One `select!` over the work's next step, a request to end, a request to end at once, and the
//! nearest timer. Whatever ends an agent, its record is written, its part of the budgets is settled,
//! and only then is it told to be over.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{Agent, Ended, Launch, Work, joined, launch::Place};
use crate::{
    AgentRecord, AgentState, Output, OutputStream,
    capture::Capture,
    pool::{Directory, Reservation},
    record::{Store, now_ms, parse},
    worktree::Left,
};

/// How long a part of a line waits for the rest of it.
const HOLD_BACK: Duration = Duration::from_millis(100);
/// How long an agent that was killed may take to be gone.
const AFTER_KILL: Duration = Duration::from_secs(5);
/// How much of standard output is looked at for a result.
const MAX_RESULT: usize = 4 << 20;
/// The longest pause before a restart.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// What the task owns.
#[derive(Debug)]
pub(crate) struct Owned {
    pub(crate) agent: Arc<Agent>,
    pub(crate) capture: Capture,
    pub(crate) reservation: Reservation,
    pub(crate) store: Arc<Store>,
    pub(crate) directory: Arc<Directory>,
    /// None for a chain of our own, which is not started again.
    pub(crate) launch: Option<Arc<Launch>>,
    pub(crate) times: Times,
}

/// How long an agent may take for what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) timeout: Duration,
    pub(crate) grace: Duration,
    pub(crate) stall: Duration,
    pub(crate) restarts: u64,
    pub(crate) restart_pause: Duration,
}

/// Drives an agent to its end.
pub(crate) async fn supervise(mut owned: Owned, work: Work) {
    let began = Instant::now();
    let ended = owned.attempts(work, began + owned.times.timeout).await;
    owned.finish(ended, began.elapsed()).await;
}

impl Owned {
    /// The first attempt, and as many more as the policy says.
    async fn attempts(&mut self, mut work: Work, deadline: Instant) -> Ended {
        let mut pause = self.times.restart_pause;
        for restart in 0..=self.times.restarts {
            let ended = self.attempt(work, deadline).await;
            let Some(launch) = self.launch.clone() else { return ended };
            if ended.state != AgentState::Failed || restart == self.times.restarts {
                return ended;
            }
            self.note(|record| {
                record.state = AgentState::Starting;
                record.restarts = restart + 1;
                record.reason.clone_from(&ended.reason);
            });
            if let Some(stopped) = self.pause(pause, deadline).await {
                return stopped;
            }
            pause = (pause * 2).min(MAX_PAUSE);
            work = match launch.start().await {
                Ok(work) => work,
                Err(error) => {
                    let reason = Some(format!("it could not be started again: {error}"));
                    return Ended { reason, ..ended };
                }
            };
            let pid = work.pid();
            self.note(|record| {
                record.state = AgentState::Running;
                record.pid = pid;
            });
        }
        // The last round returns.
        Ended { state: AgentState::Failed, exit: None, reason: None, tokens: None }
    }

    /// Waits before a restart; the end, where somebody or the clock wants it meanwhile.
    async fn pause(&self, pause: Duration, deadline: Instant) -> Option<Ended> {
        let state = tokio::select! {
            () = self.agent.kill.cancelled() => AgentState::Terminated,
            () = self.agent.end.cancelled() => AgentState::Terminated,
            () = tokio::time::sleep_until(deadline) => AgentState::TimedOut,
            () = tokio::time::sleep(pause) => return None,
        };
        Some(Ended { state, exit: None, reason: None, tokens: None })
    }

    /// One run of the work to its end.
    async fn attempt(&mut self, mut work: Work, deadline: Instant) -> Ended {
        let mut watch = Watch { asked: None, next: deadline, is_killed: false };
        loop {
            let now = Instant::now();
            let timer = watch.next.min(now + self.next_look());
            tokio::select! {
                ended = work.step(&mut self.capture) => {
                    self.heard();
                    if let Some(ended) = ended {
                        return watch.judge(ended);
                    }
                }
                () = self.agent.kill.cancelled(), if !watch.is_killed => {
                    watch.asked.get_or_insert(AgentState::Terminated);
                    watch.kill(&mut work);
                }
                () = self.agent.end.cancelled(), if watch.asked.is_none() => {
                    watch.ask(AgentState::Terminated, &mut work, self.times.grace);
                }
                () = tokio::time::sleep_until(timer) => {
                    self.look();
                    if Instant::now() >= watch.next
                        && let Some(ended) = watch.is_due(&mut work, self.times.grace)
                    {
                        return ended;
                    }
                }
            }
        }
    }

    /// How soon something may have to be noticed.
    fn next_look(&self) -> Duration {
        if self.capture.holds_back() { HOLD_BACK } else { self.times.stall.min(MAX_PAUSE) }
    }

    /// The work made a step.
    fn heard(&mut self) {
        if self.agent.record().state == AgentState::Stalled && !self.is_silent() {
            self.note(|record| {
                record.state = AgentState::Running;
                record.reason = None;
            });
        }
        self.agent.publish(&self.capture, false);
    }

    /// Nothing was heard for a while.
    fn look(&mut self) {
        if self.capture.holds_back() && self.capture.last.elapsed() >= HOLD_BACK {
            self.capture.pause();
            self.agent.publish(&self.capture, false);
        }
        if self.is_silent() && self.agent.record().state == AgentState::Running {
            let silent = self.times.stall.as_secs();
            self.note(|record| {
                record.state = AgentState::Stalled;
                record.reason = Some(format!("no output for {silent} s"));
            });
        }
    }

    fn is_silent(&self) -> bool {
        self.capture.last.elapsed() >= self.times.stall
    }

    /// Changes the record, and writes it down.
    fn note(&self, change: impl FnOnce(&mut AgentRecord)) {
        write_down(&self.store, &self.agent.change(change));
    }

    async fn finish(mut self, ended: Ended, took: Duration) {
        let left = self.leave_place().await;
        self.capture.finish();
        let result = self.result().await;
        let (kept, broken) = (self.capture.kept(), self.capture.broken.take());
        let is_wrong = result.as_ref().is_some_and(|result| result.is_error);
        let tokens = ended.tokens.or(result.as_ref().and_then(|result| result.tokens));
        self.agent.publish(&self.capture, false);
        self.note(|record| {
            record.state = match ended.state {
                AgentState::Exited if is_wrong => AgentState::Failed,
                state => state,
            };
            record.exit = ended.exit;
            let incomplete = broken.map(|why| format!("its output is not whole: {why}"));
            record.reason = ended.reason.or(incomplete);
            record.ended_ms = Some(now_ms());
            record.kept_bytes = Some(kept.bytes);
            record.tokens = tokens;
            record.cost_usd = result.as_ref().and_then(|result| result.cost_usd);
            record.session = result.and_then(|result| result.session);
            record.worktree = left;
        });
        self.directory.end_children(self.agent.id);
        // A chain that can't say what it took has taken what it had.
        let tokens = tokens.unwrap_or(self.reservation.granted.tokens);
        self.reservation.settle(took, tokens, kept.bytes);
        self.agent.publish(&self.capture, true);
    }

    /// Leaves the directory; of a working tree the changes go to the output, and its place is told.
    async fn leave_place(&mut self) -> Option<String> {
        let launch = Arc::into_inner(self.launch.take()?)?;
        let Place::Worktree(tree) = launch.into_place() else { return None };
        match joined(tokio::task::spawn_blocking(move || tree.close()).await) {
            Ok(Left::Kept { diff, place }) => {
                self.capture.end_streams();
                self.capture.take(OutputStream::Diff, diff.as_bytes());
                Some(place)
            }
            _ => None,
        }
    }

    /// What the output says of the result.
    async fn result(&self) -> Option<crate::AgentResult> {
        let provider = self.agent.provider.clone().filter(|one| !one.output.is_empty())?;
        let path = self.agent.output.clone();
        let read = move || {
            let output = Output::read_stream(&path, OutputStream::Stdout, MAX_RESULT).ok()?;
            parse(&provider.output, &output)
        };
        joined(tokio::task::spawn_blocking(read).await).ok().flatten()
    }
}

/// What is asked of the work of one attempt, and when something is due.
struct Watch {
    asked: Option<AgentState>,
    next: Instant,
    is_killed: bool,
}

impl Watch {
    fn ask(&mut self, state: AgentState, work: &mut Work, grace: Duration) {
        self.asked = Some(state);
        self.next = Instant::now() + grace;
        work.ask_to_end();
    }

    fn kill(&mut self, work: &mut Work) {
        self.is_killed = true;
        self.next = Instant::now() + AFTER_KILL;
        work.kill();
    }

    /// The next thing is due: the deadline, the end of the grace, or the end of all patience.
    fn is_due(&mut self, work: &mut Work, grace: Duration) -> Option<Ended> {
        match self.asked {
            None => self.ask(AgentState::TimedOut, work, grace),
            Some(_) if !self.is_killed => self.kill(work),
            Some(state) => {
                let reason = Some("its processes did not end when they were killed".to_owned());
                return Some(Ended { state, exit: None, reason, tokens: None });
            }
        }
        None
    }

    /// Who was asked to end has ended because of that, however it did.
    fn judge(&self, ended: Ended) -> Ended {
        let Some(state) = self.asked else { return ended };
        let reason = match state {
            AgentState::TimedOut => Some("its time was over".to_owned()),
            _ => None,
        };
        Ended { state, reason, ..ended }
    }
}

/// A record that can't be written is told, and costs the agent nothing.
pub(crate) fn write_down(store: &Store, record: &AgentRecord) {
    if let Err(error) = store.append(record) {
        tracing::error!(%error, id = %record.id, "the state of an agent can't be written down");
    }
}
