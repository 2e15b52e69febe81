//! One client: its sandbox with its sessions, the level of its log, the ids of its calls.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use sandbox::ToolSandbox;
use tool_core::CallId;

use crate::{
    ask::Desk,
    catalogue::Catalogue,
    progress::{ProgressHub, Watch},
    server::{Client, Shared, SourceError},
    tasks::Tasks,
};

/// A client's tools. Dropping the last handle ends its sessions.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) sandbox: Arc<ToolSandbox>,
    pub(crate) catalogue: Catalogue,
}

/// One client.
#[derive(Debug)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
    hub: Arc<ProgressHub>,
    desk: Arc<Desk>,
    tasks: Arc<Tasks>,
    /// The tools, with the generation that they are of; made when they are first needed.
    world: Mutex<Option<(u64, Arc<World>)>>,
    calls: AtomicU64,
    /// The least severe level that the client asked for, as a rank; none before it asked.
    level: Mutex<Option<u8>>,
}

impl Connection {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            hub: Arc::default(),
            desk: Arc::default(),
            tasks: Arc::default(),
            world: Mutex::default(),
            calls: AtomicU64::new(0),
            level: Mutex::default(),
        }
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// The tools as they are now.
    pub(crate) fn world(&self) -> Result<Arc<World>, SourceError> {
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = self.shared.generation();
        if let Some((of, world)) = world.as_ref()
            && *of == generation
        {
            return Ok(Arc::clone(world));
        }
        let client =
            Client { progress: Arc::clone(&self.hub) as _, approver: Arc::clone(&self.desk) as _ };
        let opened = Arc::new(self.shared.open(client)?);
        *world = Some((generation, Arc::clone(&opened)));
        Ok(opened)
    }

    /// An id for the next call, unique in this connection.
    pub(crate) fn next_call(&self) -> CallId {
        CallId::new(format!("mcp-{}", self.calls.fetch_add(1, Ordering::Relaxed)))
    }

    /// Watches a call.
    pub(crate) fn watch(&self, call: CallId) -> Watch {
        self.hub.watch(call)
    }

    /// Where the client's person is asked.
    pub(crate) fn desk(&self) -> &Arc<Desk> {
        &self.desk
    }

    /// Its calls that take long.
    pub(crate) fn tasks(&self) -> &Arc<Tasks> {
        &self.tasks
    }

    pub(crate) fn set_level(&self, rank: u8) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(rank);
    }

    /// Whether the client wants to read messages of this rank.
    pub(crate) fn wants(&self, rank: u8) -> bool {
        let level = *self.level.lock().unwrap_or_else(PoisonError::into_inner);
        level.is_some_and(|least| rank >= least)
    }
}
