//! The handle of one agent: whoever holds it owns the agent, and dropping it ends it.

use std::{io, sync::Arc};

use super::{Agent, Collect, Collected};
use crate::{AgentId, AgentRecord};

/// One agent. Dropping it ends the agent and every process that came of it.
#[derive(Debug)]
#[must_use = "dropping a handle ends its agent"]
pub struct AgentHandle {
    agent: Arc<Agent>,
    /// Whether the agent was given away.
    is_released: bool,
}

impl AgentHandle {
    pub(crate) fn new(agent: Arc<Agent>) -> Self {
        Self { agent, is_released: false }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> AgentId {
        self.agent.id
    }

    /// What is known of it. Never waits.
    #[must_use]
    pub fn status(&self) -> AgentRecord {
        self.agent.status()
    }

    /// Reads what it wrote.
    ///
    /// # Errors
    /// The file of its output can't be read.
    pub async fn collect(&self, ask: Collect) -> io::Result<Collected> {
        self.agent.collect(ask).await
    }

    /// Asks it to end, kills it after the grace, and gives what is known of it then.
    pub async fn terminate(self) -> AgentRecord {
        self.agent.end.cancel();
        self.agent.ended().await;
        self.agent.status()
    }

    /// Waits for its end. Dropping the future drops the handle, which ends the agent.
    pub async fn wait(self) -> AgentRecord {
        self.agent.ended().await;
        self.agent.status()
    }

    /// Lets go of the agent without ending it.
    pub(crate) fn release(mut self) {
        self.is_released = true;
    }
}

impl Drop for AgentHandle {
    fn drop(&mut self) {
        if !self.is_released {
            self.agent.kill.cancel();
        }
    }
}
