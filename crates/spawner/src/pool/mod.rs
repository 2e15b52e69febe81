//! The pool: agents started within the operator's bounds, found by their ids, ended with it.
//!
//! Bounds are checked and taken in one step, so of two spawns that want the last place one gets it. An
//! agent is one task of the event loop; everybody else has its record and its progress. The pool that
//! was made ends all of its agents when it is dropped; those that agents see of it do not.

mod directory;
mod earlier;
mod error;
mod ledger;
mod request;
mod requests;
mod spawn;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use self::earlier::Earlier;
pub(crate) use self::{
    directory::Directory,
    ledger::{Ask, Bounds, Ledger, Reservation},
};
pub use self::{
    error::{AgentError, PoolError, SpawnError},
    request::AgentRequest,
};
use crate::{
    AgentHandle, AgentHost, AgentId, AgentRecord, Collect, Collected, SubagentConfig,
    agent::{Agent, LastPrepared},
    config::Provider,
    record::{Store, now_ms, output_path},
};

/// Agents of one program. See the crate's documentation.
#[derive(Debug)]
pub struct AgentPool {
    shared: Arc<Shared>,
    /// Whether dropping it ends the agents.
    is_owner: bool,
    /// The agent whose view this is; it sees those that it started.
    viewer: Option<AgentId>,
}

/// What all views of a pool share.
#[derive(Debug)]
struct Shared {
    config: SubagentConfig,
    providers: BTreeMap<String, Arc<Provider>>,
    host: Arc<dyn AgentHost>,
    store: Arc<Store>,
    ledger: Arc<Ledger>,
    directory: Arc<Directory>,
    last_prepared: LastPrepared,
    /// Whether requests of other processes are looked for.
    is_listening: AtomicBool,
}

impl AgentPool {
    /// A pool. Opens the state folder, and starts nothing.
    ///
    /// # Errors
    /// A value that can't be used, or a state folder that can't.
    pub fn new(config: SubagentConfig, host: Arc<dyn AgentHost>) -> Result<Self, PoolError> {
        config.check()?;
        let providers = config.resolve()?;
        let providers: BTreeMap<_, _> =
            providers.into_iter().map(|(name, one)| (name, Arc::new(one))).collect();
        let state = |source| PoolError::State { folder: config.state_dir.clone(), source };
        let (store, earlier) = Store::open(config.state_dir.as_deref()).map_err(state)?;
        let directory = Directory::default();
        let used = Earlier::of(&earlier, &store, now_ms());
        for record in earlier {
            let output = output_path(store.folder(), record.id);
            let provider = providers.get(&record.provider).cloned();
            directory.add(Arc::new(Agent::new(record, output, provider)));
        }
        let ledger = Arc::new(Ledger::new(Bounds::of(&config), used));
        let shared = Shared {
            config,
            providers,
            host,
            store: Arc::new(store),
            ledger,
            directory: Arc::new(directory),
            last_prepared: LastPrepared::default(),
            is_listening: AtomicBool::new(false),
        };
        Ok(Self { shared: Arc::new(shared), is_owner: true, viewer: None })
    }

    /// The same pool as an agent sees it: the agents that it started, and no others.
    pub(crate) fn view_of(&self, viewer: AgentId) -> Self {
        Self { shared: Arc::clone(&self.shared), is_owner: false, viewer: Some(viewer) }
    }

    /// Starts an agent, and gives it into the pool's care.
    ///
    /// A future that is dropped leaves nothing running.
    ///
    /// # Errors
    /// A bound is reached, the provider or the model is none, the scope is wider than the parent's, or the
    /// agent can't be started.
    pub async fn spawn(&self, request: AgentRequest) -> Result<AgentId, SpawnError> {
        let agent = Box::pin(spawn::spawn(self, request)).await?;
        Ok(agent.id)
    }

    /// Takes an agent that lives out of the pool's care: dropping the handle ends it.
    ///
    /// # Errors
    /// There is no such agent, or it has ended.
    pub fn checkout(&self, id: AgentId) -> Result<AgentHandle, AgentError> {
        let agent = self.find(id)?;
        if !agent.is_live() {
            return Err(AgentError::Ended { id, state: agent.status().state });
        }
        Ok(AgentHandle::new(agent))
    }

    /// Gives an agent back into the pool's care.
    pub fn release(&self, handle: AgentHandle) {
        handle.release();
    }

    /// What is known of an agent. Never waits.
    ///
    /// # Errors
    /// There is no such agent.
    pub fn status(&self, id: AgentId) -> Result<AgentRecord, AgentError> {
        Ok(self.find(id)?.status())
    }

    /// Every agent that is known, oldest first, those of earlier hosts too. Never waits.
    #[must_use]
    pub fn list(&self) -> Vec<AgentRecord> {
        let all = self.shared.directory.all();
        all.iter().filter(|agent| self.sees(agent)).map(|agent| agent.status()).collect()
    }

    /// Reads what an agent wrote, while it runs and after.
    ///
    /// # Errors
    /// There is no such agent, or its output can't be read.
    pub async fn collect(&self, id: AgentId, ask: Collect) -> Result<Collected, AgentError> {
        let agent = self.find(id)?;
        agent.collect(ask).await.map_err(|source| AgentError::Output { id, source })
    }

    /// Asks an agent to end, kills it after the grace, and gives what is known of it then. Of one that
    /// has ended, that is all it does.
    ///
    /// # Errors
    /// There is no such agent.
    pub async fn terminate(&self, id: AgentId) -> Result<AgentRecord, AgentError> {
        let agent = self.find(id)?;
        agent.end.cancel();
        agent.ended().await;
        Ok(agent.status())
    }

    /// Forgets an agent that has ended. Its record stays in the state folder, and its id is not used
    /// again.
    ///
    /// # Errors
    /// There is no such agent, or it lives.
    pub fn evict(&self, id: AgentId) -> Result<AgentRecord, AgentError> {
        let agent = self.find(id)?;
        if agent.is_live() {
            return Err(AgentError::Alive { id });
        }
        self.shared.directory.forget(id);
        Ok(agent.status())
    }

    /// Ends every agent that lives, all at once, and waits for the last.
    pub async fn drain(&self) {
        let live: Vec<_> = self.shared.directory.live().collect();
        for agent in live.iter().filter(|agent| self.sees(agent)) {
            agent.end.cancel();
        }
        for agent in live.iter().filter(|agent| self.sees(agent)) {
            agent.ended().await;
        }
    }

    /// How many agents live.
    #[must_use]
    pub fn live(&self) -> u64 {
        self.shared.ledger.live()
    }

    /// The folder of records and output.
    #[must_use]
    pub fn state_folder(&self) -> PathBuf {
        self.shared.store.folder().to_owned()
    }

    pub(crate) fn config(&self) -> &SubagentConfig {
        &self.shared.config
    }

    fn sees(&self, agent: &Agent) -> bool {
        self.viewer.is_none() || agent.parent() == self.viewer
    }

    fn find(&self, id: AgentId) -> Result<Arc<Agent>, AgentError> {
        let agent = self.shared.directory.get(id).filter(|agent| self.sees(agent));
        agent.ok_or_else(|| match self.is_owner && self.shared.directory.is_forgotten(id) {
            true => AgentError::Evicted { id },
            false => AgentError::Unknown { id },
        })
    }
}

impl Drop for AgentPool {
    fn drop(&mut self) {
        if self.is_owner {
            for agent in self.shared.directory.live() {
                agent.kill.cancel();
            }
        }
    }
}
