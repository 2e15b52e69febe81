//! One agent: what it is made of, the task that owns it, and the handle whose drop ends it.

mod chain_work;
mod collect;
mod handle;
mod launch;
mod prepared;
mod process;
mod program;
mod supervise;

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tool_core::ExitStatus;

pub(crate) use self::{
    chain_work::{ChainWork, scoped_chain},
    launch::{Launch, Start},
    prepared::LastPrepared,
    process::ProcessWork,
    program::find_program,
    supervise::{Owned, Times, supervise, write_down},
};
pub use self::{
    collect::{Collect, Collected},
    handle::AgentHandle,
    launch::LaunchError,
};
use crate::{AgentId, AgentRecord, AgentState, capture::Capture, config::Provider};

/// An agent, as everybody but its owner sees it.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) id: AgentId,
    record: Mutex<AgentRecord>,
    progress: watch::Sender<Progress>,
    /// Asks it to end.
    pub(crate) end: CancellationToken,
    /// Ends it at once.
    pub(crate) kill: CancellationToken,
    pub(crate) output: PathBuf,
    /// None for an agent of an earlier host whose provider is gone.
    provider: Option<Arc<Provider>>,
}

/// How far an agent is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes that its file holds.
    pub(crate) kept: u64,
    pub(crate) came: (u64, u64),
    pub(crate) is_over: bool,
}

impl Agent {
    pub(crate) fn new(
        record: AgentRecord,
        output: PathBuf,
        provider: Option<Arc<Provider>>,
    ) -> Self {
        let is_over = !record.state.is_live();
        let came = (record.stdout_bytes, record.stderr_bytes);
        let progress = Progress { kept: 0, came, is_over };
        Self {
            id: record.id,
            record: Mutex::new(record),
            progress: watch::Sender::new(progress),
            end: CancellationToken::new(),
            kill: CancellationToken::new(),
            output,
            provider,
        }
    }

    fn record(&self) -> MutexGuard<'_, AgentRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of it now. Never waits.
    pub(crate) fn status(&self) -> AgentRecord {
        let mut record = self.record().clone();
        (record.stdout_bytes, record.stderr_bytes) = self.progress.borrow().came;
        record
    }

    pub(crate) fn is_live(&self) -> bool {
        self.record().state.is_live()
    }

    pub(crate) fn parent(&self) -> Option<AgentId> {
        self.record().parent
    }

    /// Waits for its end.
    pub(crate) async fn ended(&self) {
        let mut progress = self.progress.subscribe();
        // The sender is ours.
        let _ = progress.wait_for(|progress| progress.is_over).await;
    }

    /// Changes its record, and gives what is to be written down.
    fn change(&self, change: impl FnOnce(&mut AgentRecord)) -> AgentRecord {
        change(&mut self.record());
        self.status()
    }

    fn publish(&self, capture: &Capture, is_over: bool) {
        let progress = Progress { kept: capture.kept().bytes, came: capture.came, is_over };
        self.progress.send_if_modified(|now| {
            let is_news = *now != progress;
            *now = progress;
            is_news
        });
    }
}

/// How the work of an agent ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ended {
    pub(crate) state: AgentState,
    pub(crate) exit: Option<ExitStatus>,
    pub(crate) reason: Option<String>,
    pub(crate) tokens: Option<u64>,
}

/// What an agent does, of either kind.
#[derive(Debug)]
pub(crate) enum Work {
    Process(Box<ProcessWork>),
    Chain(ChainWork),
}

impl Work {
    /// Waits for the next thing and does it; the end, where that was it. Can be dropped and called again.
    async fn step(&mut self, capture: &mut Capture) -> Option<Ended> {
        match self {
            Self::Process(work) => work.step(capture).await,
            Self::Chain(work) => work.step(capture).await,
        }
    }

    fn ask_to_end(&mut self) {
        match self {
            Self::Process(work) => work.ask_to_end(),
            Self::Chain(work) => work.ask_to_end(),
        }
    }

    fn kill(&mut self) {
        match self {
            Self::Process(work) => work.kill(),
            Self::Chain(work) => work.kill(),
        }
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        match self {
            Self::Process(work) => work.pid(),
            Self::Chain(_) => None,
        }
    }
}

/// An error of a thread that was given work.
pub(crate) fn joined<T>(answer: Result<T, tokio::task::JoinError>) -> io::Result<T> {
    answer.map_err(|_| io::Error::other("a thread of the pool has panicked"))
}
