//! One call: from the request to its outcome.
//!
//! One loop waits for everything at once: the driver's word, its output, its end, the answers to its
//! calls back, the deadline and the caller's cancel. The arms are polled in random order, so that
//! endless output starves nobody. The deadline (or the cancel) interrupts, the middle of the grace
//! interrupts again, and its end kills; and if even that is not followed by the end of the process, the call returns without it.

use std::{collections::BTreeSet, future::Future, pin::pin, sync::Arc, time::Duration};

use serde_json::Value;
use tokio::{task::JoinSet, time::Instant};
use tool_core::ExitStatus;

use super::{
    Background, CallError, CallOutcome, Cwd, DriverLink, Ending, StateAfter, control::Line,
    link::Health, quick::Pace,
};
use crate::{
    language::Language,
    protocol::{Done, Event, Kept, Request, parse},
};

/// How long a killed process may take to be gone.
const DEATH: Duration = Duration::from_secs(2);

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Interrupted,
    /// Interrupted again, in the middle of the grace.
    InterruptedTwice,
    Killed,
}

/// How a call came to its end.
enum End {
    /// The driver said so.
    Reported(Box<Done>),
    /// The process ended.
    Died(ExitStatus),
    /// It was killed, and is not gone.
    GivenUp,
}

/// The changing parts of a call that runs.
pub(super) struct Call {
    id: u64,
    phase: Phase,
    /// When something is done about it, if it has not ended.
    pub(super) next: Instant,
    timed_out: bool,
    cancelled: bool,
    speaks: bool,
    answers: JoinSet<(u64, Result<Value, String>)>,
    asked: BTreeSet<u64>,
}

impl DriverLink {
    /// Runs code to its end, or interrupts it at `deadline` or when `cancel` is ready.
    ///
    /// Returns at the latest after the deadline, the grace and two seconds more. A future that is
    /// dropped before its end leaves the session lost: use `cancel`.
    ///
    /// # Errors
    ///
    /// [`CallError`], where nothing was run.
    pub async fn run(
        &mut self,
        code: &str,
        deadline: Instant,
        cancel: impl Future<Output = ()> + Send,
    ) -> Result<CallOutcome, CallError> {
        self.check_code(code)?;
        self.begin()?;
        let earlier = self.take_background();
        if let Some(watcher) = &self.watcher {
            self.stdout.watch(Arc::clone(watcher));
            self.stderr.watch(Arc::clone(watcher));
        }
        let mut call = Call::new(self.next_id(), deadline);
        self.send(&Request::Run { id: call.id, code });
        let begun = Instant::now();
        let end = match self.quick_end(&mut call) {
            Some(done) => End::Reported(done),
            None => {
                let end = self.follow(&mut call, cancel).await;
                self.pace = Pace::after(begun.elapsed());
                self.control.rest();
                self.drain();
                end
            }
        };
        self.stdout.end_watch();
        self.stderr.end_watch();
        for seq in std::mem::take(&mut call.asked) {
            self.answer(seq, Err("the call that asked has ended".to_owned()));
        }
        Ok(self.outcome(&call, end, earlier))
    }

    fn check_code(&self, code: &str) -> Result<(), CallError> {
        let max = self.config.max_code_bytes;
        if code.len() > max {
            return Err(CallError::TooLong { bytes: code.len(), max });
        }
        if self.language == Language::Bash && code.contains('\0') {
            return Err(CallError::Nul);
        }
        Ok(())
    }

    async fn follow(&mut self, call: &mut Call, cancel: impl Future<Output = ()> + Send) -> End {
        let mut cancel = pin!(cancel);
        let mut timer = pin!(tokio::time::sleep_until(call.next));
        loop {
            if timer.deadline() != call.next {
                timer.as_mut().reset(call.next);
            }
            tokio::select! {
                line = self.control.next_line(), if call.speaks => {
                    if let Some(done) = self.hear(call, line) {
                        return End::Reported(done);
                    }
                }
                () = self.stdout.fill() => {}
                () = self.stderr.fill() => {}
                Some(answered) = call.answers.join_next(), if !call.answers.is_empty() => {
                    if let Ok((seq, result)) = answered {
                        call.asked.remove(&seq);
                        self.answer(seq, result);
                    }
                }
                status = self.process.ended() => return self.last_words(call, status),
                () = &mut timer => {
                    if let Some(end) = self.time_is_up(call) {
                        return end;
                    }
                }
                () = &mut cancel, if call.phase == Phase::Running => {
                    call.cancelled = true;
                    self.interrupt(call);
                }
            }
        }
    }

    /// Takes in the lines that are there; gives the report, if it is among them.
    pub(super) fn heard(&mut self, call: &mut Call) -> Option<Box<Done>> {
        while let Some(line) = self.control.ready_line().filter(|_| call.speaks) {
            if let Some(done) = self.hear(call, line) {
                return Some(done);
            }
        }
        None
    }

    /// Takes in one line of the driver; gives the report, if it is the end of this call.
    fn hear(&mut self, call: &mut Call, line: Line) -> Option<Box<Done>> {
        match line {
            Line::Whole(line) => match parse(&line, &self.token)? {
                Event::Done(done) if done.id == call.id => return Some(done),
                Event::Call { id, seq, name, args, texts } if id == call.id => {
                    let args = read_args(&args, self.control.take_texts(), &texts);
                    self.call_back(call, seq, name, args);
                }
                other => self.refuse_stray(&other),
            },
            // The process is ending, or it has become another program: wait for its end.
            Line::Ended => call.speaks = false,
            Line::TooLong => {
                call.speaks = false;
                self.kill(call);
            }
        }
        None
    }

    fn call_back(&mut self, call: &mut Call, seq: u64, name: String, args: Result<Value, String>) {
        let args = match args {
            Ok(args) => args,
            Err(error) => return self.answer(seq, Err(format!("unreadable arguments: {error}"))),
        };
        if call.answers.len() >= self.config.max_host_calls {
            return self.answer(seq, Err("too many calls to the host at once".to_owned()));
        }
        call.asked.insert(seq);
        let host = Arc::clone(&self.host_calls);
        call.answers.spawn(async move { (seq, host.call(name, args).await) });
    }

    /// The process ended: what it had said before counts.
    fn last_words(&mut self, call: &mut Call, status: ExitStatus) -> End {
        self.health = Health::Lost;
        self.heard(call).map_or(End::Died(status), End::Reported)
    }

    fn time_is_up(&mut self, call: &mut Call) -> Option<End> {
        match call.phase {
            Phase::Running => {
                call.timed_out = true;
                self.interrupt(call);
            }
            // The first may have come before the driver had begun.
            Phase::Interrupted => {
                self.interrupt(call);
                call.phase = Phase::InterruptedTwice;
            }
            Phase::InterruptedTwice => self.kill(call),
            Phase::Killed => return Some(End::GivenUp),
        }
        None
    }

    fn interrupt(&mut self, call: &mut Call) {
        self.process.interrupt();
        call.phase = Phase::Interrupted;
        call.next = Instant::now() + self.config.grace / 2;
    }

    fn kill(&mut self, call: &mut Call) {
        self.process.kill();
        call.phase = Phase::Killed;
        call.next = Instant::now() + DEATH;
    }

    fn outcome(&mut self, call: &Call, end: End, earlier: Background) -> CallOutcome {
        let mut outcome = CallOutcome {
            shown: Vec::new(),
            error: None,
            stdout: self.stdout.take(),
            stderr: self.stderr.take(),
            earlier,
            ending: Ending {
                timed_out: call.timed_out,
                cancelled: call.cancelled,
                killed: call.phase == Phase::Killed,
                ..Ending::default()
            },
            state: StateAfter::Lost,
            generation: self.generation,
            cwd: None,
        };
        match end {
            End::Reported(done) => self.fill_in(&mut outcome, *done),
            End::Died(ExitStatus::Code(code)) => outcome.ending.exit_code = Some(code),
            End::Died(ExitStatus::Signal(signal)) => outcome.ending.signal = Some(signal),
            End::GivenUp => {}
        }
        if outcome.state == StateAfter::Lost {
            self.health = Health::Lost;
        }
        outcome
    }

    fn fill_in(&mut self, outcome: &mut CallOutcome, done: Done) {
        outcome.shown = done.shown;
        outcome.error = done.error;
        outcome.ending.exit_code = Some(done.exit_code);
        outcome.cwd = Some(Cwd { path: done.cwd, exists: done.cwd_exists });
        if self.health == Health::Lost || outcome.ending.killed {
            return;
        }
        self.health = Health::Idle;
        outcome.state = match done.state {
            Kept::Kept => StateAfter::Kept,
            Kept::Restored => {
                self.generation += 1;
                outcome.generation = self.generation;
                StateAfter::Restored
            }
        };
    }
}

/// The arguments of a call back, with the texts that came before them as the member `texts`.
fn read_args(args: &str, sent: Vec<u8>, sizes: &[usize]) -> Result<Value, String> {
    let mut args = serde_json::from_str(args).map_err(|error| error.to_string())?;
    if sizes.is_empty() {
        return Ok(args);
    }
    let Value::Object(members) = &mut args else { return Err("no object".to_owned()) };
    let mut rest = sent.as_slice();
    let mut texts = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let (text, after) = rest.split_at_checked(size).ok_or("a text is cut off")?;
        let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
        texts.push(Value::from(text));
        rest = after;
    }
    members.insert("texts".to_owned(), texts.into());
    Ok(args)
}

impl Call {
    fn new(id: u64, deadline: Instant) -> Self {
        Self {
            id,
            phase: Phase::Running,
            next: deadline,
            timed_out: false,
            cancelled: false,
            speaks: true,
            answers: JoinSet::new(),
            asked: BTreeSet::new(),
        }
    }
}
