//! One of a session's two interpreters: started by the first call, and again after a loss.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Run, SessionError, status::DriverStatus};
use crate::{
    CallOutcome, DriverLink, Language, LinkConfig, NoHostCalls, Place, StartError, StateAfter,
};

/// The least that an interpreter is given to start.
const START: Duration = Duration::from_secs(10);

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
    pub confinement: Value,
}

/// An interpreter that is there or will be.
#[derive(Debug)]
pub(super) struct Slot {
    language: Language,
    live: Option<Live>,
    /// The number of the last interpreter; 0 where there was none.
    generation: u64,
}

#[derive(Debug)]
struct Live {
    link: DriverLink,
    confinement: Value,
    limit: Arc<OnceLock<String>>,
}

impl Slot {
    pub(super) fn new(language: Language) -> Self {
        Self { language, live: None, generation: 0 }
    }

    /// Takes in background output between calls; returns when the interpreter has ended, and never
    /// where there is none. Cancel safe.
    pub(super) async fn attend(&mut self) {
        match &mut self.live {
            Some(live) => {
                live.link.attend().await;
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

    /// Runs code, and starts the interpreter before where there is none.
    pub(super) async fn run(
        &mut self,
        place: &Arc<dyn Place>,
        run: &Run,
        max_output: usize,
        cancel: &CancellationToken,
    ) -> Result<Ran, SessionError> {
        let is_fresh = self.live.is_none() && self.generation > 0;
        if self.live.is_none() {
            let place = Arc::clone(place);
            let next = self.generation + 1;
            self.live = Some(Live::start(place, self.language, next, max_output).await?);
            self.generation += 1;
        }
        let Some(live) = &mut self.live else {
            return Err(SessionError::Start(StartError::TimedOut));
        };
        live.link.set_grace(run.grace);
        let outcome = live.link.run(&run.code, run.deadline, cancel.cancelled()).await;
        let (limit, confinement) = (live.limit.get().cloned(), live.confinement.clone());
        self.generation = live.link.generation();
        if live.link.is_lost() {
            self.live = None;
        }
        let mut outcome = outcome?;
        if is_fresh && outcome.state == StateAfter::Kept {
            outcome.state = StateAfter::Restored;
        }
        Ok(Ran { outcome, is_fresh, limit, confinement })
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
        let config = LinkConfig { max_output_bytes, generation, ..LinkConfig::default() };
        let calls = Arc::new(NoHostCalls);
        let by = Instant::now() + START;
        let (channels, process) = (started.channels, started.process);
        let link = DriverLink::start(language, channels, process, calls, config, by).await?;
        Ok(Self { link, confinement: started.confinement, limit: started.limit })
    }
}
