//! One of a session's two interpreters: started by the first call, and again after a loss.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
    time::Duration,
};

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Disk, Run, SessionError, status::DriverStatus};
use crate::{
    Background, CallError, CallOutcome, DriverLink, FileChanges, HostCalls, Language, LinkConfig,
    NoHostCalls, Place, StateAfter, VariableError, driver::Part,
};

/// The least that an interpreter is given to start.
const START: Duration = Duration::from_secs(10);
/// How many threads of a session's code may wait for an answer of the host at once.
const MAX_HOST_CALLS: usize = 1024;

/// A call's result, with what the session knows of its interpreter.
#[derive(Debug)]
pub struct Ran {
    /// What the driver gave.
    pub outcome: CallOutcome,
    /// The interpreter is another than the one before the call, whose state is gone.
    pub is_fresh: bool,
    /// The limit that ended the interpreter, where one did.
    pub limit: Option<String>,
    /// What is enforced on the interpreter.
    pub confinement: Arc<Value>,
    /// What became of the session's files since the call before.
    pub changes: FileChanges,
    /// The session's files were lost before the call, with what held them.
    pub files_are_gone: bool,
    /// The session's directory, where it holds more than it may.
    pub over_disk: Option<Disk>,
}

/// An interpreter that is there or will be.
#[derive(Debug)]
pub(super) struct Slot {
    language: Language,
    live: Option<Live>,
    /// The number of the last interpreter; 0 where there was none.
    generation: u64,
    /// What the host set; set again in every new interpreter.
    context: BTreeMap<String, Value>,
    /// What an interpreter that is gone printed, and no call has shown.
    left: Background,
}

/// What the host asks of a session's variables.
#[derive(Debug)]
pub(super) enum Question {
    Set {
        name: String,
        value: Value,
    },
    Get {
        name: String,
    },
    /// Calls a function of a part of the driver.
    Part {
        part: Part,
        call: &'static str,
        args: Value,
    },
}

/// Who answers the calls of code while one call runs.
pub(super) type Calls = Option<Arc<dyn HostCalls>>;

#[derive(Debug)]
struct Live {
    link: DriverLink,
    /// The names of the parts that it has loaded.
    parts: BTreeSet<&'static str>,
    confinement: Arc<Value>,
    limit: Arc<OnceLock<String>>,
}

impl Slot {
    pub(super) fn new(language: Language) -> Self {
        let (context, left) = (BTreeMap::new(), Background::default());
        Self { language, live: None, generation: 0, context, left }
    }

    /// Takes in background output between calls; returns when the interpreter has ended, and never
    /// where there is none. Cancel safe.
    pub(super) async fn attend(&mut self) {
        match &mut self.live {
            Some(live) => {
                live.link.attend().await;
                self.left = live.link.take_background();
                self.live = None;
            }
            None => std::future::pending().await,
        }
    }

    pub(super) fn status(&self) -> DriverStatus {
        DriverStatus {
            is_running: self.live.is_some(),
            generation: self.generation,
            version: self.live.as_ref().map(|live| live.link.version().to_owned()),
        }
    }

    /// What was printed since the last call; the next one shows it too.
    pub(super) fn unread(&mut self) -> Background {
        self.live.as_mut().map_or_else(|| self.left.clone(), |live| live.link.background())
    }

    /// Starts the interpreter where there is none.
    pub(super) async fn start(
        &mut self,
        place: &Arc<dyn Place>,
        max_output: usize,
    ) -> Result<(), SessionError> {
        self.ready(place, max_output).await.map(drop)
    }

    /// Runs code, and starts the interpreter before where there is none.
    pub(super) async fn run(
        &mut self,
        place: &Arc<dyn Place>,
        run: &Run,
        calls: Calls,
        max_output: usize,
        cancel: &CancellationToken,
    ) -> Result<Ran, SessionError> {
        let is_fresh = self.live.is_none() && self.generation > 0;
        let live = self.ready(place, max_output).await?;
        live.link.set_grace(run.grace);
        live.link.watch(run.watcher.clone());
        live.link.set_host_calls(calls.unwrap_or_else(|| Arc::new(NoHostCalls)));
        let outcome = live.link.run(&run.code, run.deadline, cancel.cancelled()).await;
        let (limit, confinement) = (live.limit.get().cloned(), Arc::clone(&live.confinement));
        self.look_after();
        let mut outcome = outcome?;
        if is_fresh {
            outcome.earlier = std::mem::take(&mut self.left);
        }
        if is_fresh && outcome.state == StateAfter::Kept {
            outcome.state = StateAfter::Restored;
        }
        let (changes, files_are_gone, over_disk) = (FileChanges::default(), false, None);
        Ok(Ran { outcome, is_fresh, limit, confinement, changes, files_are_gone, over_disk })
    }

    /// Sets or reads a variable; setting gives null.
    pub(super) async fn ask(
        &mut self,
        place: &Arc<dyn Place>,
        question: Question,
        max_output: usize,
    ) -> Result<Value, SessionError> {
        let live = self.ready(place, max_output).await?;
        let answer = match &question {
            Question::Set { name, value } => {
                live.link.set_variable(name, value, true).await.map(|()| Value::Null)
            }
            Question::Get { name } => live.link.variable(name).await,
            Question::Part { part, call, args } => live.call_part(*part, call, args).await,
        };
        self.look_after();
        let answer = answer?;
        if let Question::Set { name, value } = question {
            self.context.insert(name, value);
        }
        Ok(answer)
    }

    /// The interpreter, which is started where there is none.
    async fn ready(
        &mut self,
        place: &Arc<dyn Place>,
        max_output: usize,
    ) -> Result<&mut Live, SessionError> {
        if self.live.is_none() {
            let (place, next) = (Arc::clone(place), self.generation + 1);
            let mut live = Live::start(place, self.language, next, max_output).await?;
            for (name, value) in &self.context {
                live.link.set_variable(name, value, true).await?;
            }
            self.live = Some(live);
            self.generation = next;
        }
        self.live.as_mut().ok_or(SessionError::Call(CallError::Lost))
    }

    /// Takes note of what became of the interpreter.
    fn look_after(&mut self) {
        if let Some(live) = &self.live {
            self.generation = live.link.generation();
            if live.link.is_lost() {
                self.live = None;
            }
        }
    }
}

impl Live {
    async fn start(
        place: Arc<dyn Place>,
        language: Language,
        generation: u64,
        max_output_bytes: usize,
    ) -> Result<Self, SessionError> {
        let started = tokio::task::spawn_blocking(move || place.start(language)).await;
        let started = started.map_err(std::io::Error::other)??;
        let config = LinkConfig {
            max_output_bytes,
            generation,
            max_host_calls: MAX_HOST_CALLS,
            ..LinkConfig::default()
        };
        let calls = Arc::new(NoHostCalls);
        let by = Instant::now() + START;
        let (channels, process) = (started.channels, started.process);
        let link = DriverLink::start(language, channels, process, calls, config, by).await?;
        let (parts, confinement) = (BTreeSet::new(), Arc::new(started.confinement));
        Ok(Self { link, parts, confinement, limit: started.limit })
    }

    async fn call_part(
        &mut self,
        part: Part,
        call: &str,
        args: &Value,
    ) -> Result<Value, VariableError> {
        let is_first = !self.parts.contains(part.name);
        let answer = self.link.call_part(part, is_first, call, args).await?;
        self.parts.insert(part.name);
        Ok(answer)
    }
}
