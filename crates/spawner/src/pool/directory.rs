//! The agents of a pool by their ids.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{AgentId, agent::Agent};

/// Every agent that is known. Nothing waits while it is looked at.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    agents: Mutex<BTreeMap<AgentId, Arc<Agent>>>,
    /// Those that were here once.
    forgotten: Mutex<BTreeSet<AgentId>>,
}

impl Directory {
    fn agents(&self) -> MutexGuard<'_, BTreeMap<AgentId, Arc<Agent>>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, agent: Arc<Agent>) {
        self.agents().insert(agent.id, agent);
    }

    pub(super) fn get(&self, id: AgentId) -> Option<Arc<Agent>> {
        self.agents().get(&id).cloned()
    }

    /// Forgets all of an agent but that it was here.
    pub(super) fn forget(&self, id: AgentId) {
        if self.agents().remove(&id).is_some() {
            self.forgotten.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        }
    }

    pub(super) fn is_forgotten(&self, id: AgentId) -> bool {
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner).contains(&id)
    }

    /// All of them, oldest first.
    pub(super) fn all(&self) -> Vec<Arc<Agent>> {
        self.agents().values().cloned().collect()
    }

    pub(super) fn live(&self) -> impl Iterator<Item = Arc<Agent>> + use<> {
        self.all().into_iter().filter(|agent| agent.is_live())
    }

    /// Asks the agents of an agent that has ended to end.
    pub(crate) fn end_children(&self, parent: AgentId) {
        for agent in self.live().filter(|agent| agent.parent() == Some(parent)) {
            agent.end.cancel();
        }
    }
}
