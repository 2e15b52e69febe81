//! Sessions that are begun before anybody asks for them, each with a Python that runs.
//!
//! The pool begins with the first session, so that nothing is started where nothing is called. One
//! that is taken is replaced in the background, and so is one whose Python has ended, which is found
//! when the next is taken. They are no sessions yet: they have no id, no age, and count as none.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use super::{SessionError, session::Begun};
use crate::{Backends, SandboxConfig};

/// What is ready, and how much of it there should be.
#[derive(Debug)]
pub(super) struct Pool {
    inner: Mutex<Inner>,
    most: usize,
    config: SandboxConfig,
    backends: Arc<Backends>,
}

#[derive(Debug, Default)]
struct Inner {
    ready: VecDeque<Begun>,
    is_filling: bool,
}

impl Pool {
    /// An empty pool. Starts nothing.
    pub(super) fn new(backends: Arc<Backends>, config: SandboxConfig) -> Self {
        let most = usize::try_from(config.warm_sessions).unwrap_or(0);
        Self { inner: Mutex::default(), most, config, backends }
    }

    /// One that is ready, if there is one.
    pub(super) fn take(&self) -> Option<Begun> {
        self.sorted_out().ready.pop_front()
    }

    /// Whether another backend than the first listed may be in use.
    pub(super) fn is_choice(&self) -> bool {
        self.backends.is_choice()
    }

    /// Where sessions are made.
    pub(super) fn backends(&self) -> &Arc<Backends> {
        &self.backends
    }

    /// How many are ready.
    pub(super) fn count(&self) -> usize {
        self.sorted_out().ready.len()
    }

    /// Begins a session without the pool, which can read these files of the host.
    pub(super) async fn begin(&self, files: Vec<PathBuf>) -> Result<Begun, SessionError> {
        let backends = Arc::clone(&self.backends);
        let opened = tokio::task::spawn_blocking(move || backends.open(&files)).await;
        let (place, backend) = opened.map_err(std::io::Error::other)??;
        Ok(Begun::new(place, backend, &self.config))
    }

    /// Makes what is missing, in the background. It must be called within a runtime.
    pub(super) fn refill(self: &Arc<Self>) {
        let mut inner = self.sorted_out();
        if inner.is_filling || inner.ready.len() >= self.most {
            return;
        }
        inner.is_filling = true;
        let filling = Filling { pool: Arc::downgrade(self), is_over: false };
        tokio::spawn(async move { filling.fill().await });
    }

    /// Without those that have ended.
    fn sorted_out(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.ready.retain(Begun::is_started);
        inner
    }

    /// One more, with its Python started.
    async fn warm(&self) -> Result<Begun, SessionError> {
        let begun = self.begin(Vec::new()).await?;
        begun.start().await?;
        Ok(begun)
    }

    /// Takes one in; says whether more are missing. Where none is, the filling is over.
    fn add(&self, begun: Begun) -> bool {
        let mut inner = self.sorted_out();
        inner.ready.push_back(begun);
        inner.is_filling = inner.ready.len() < self.most;
        inner.is_filling
    }
}

/// The one task that fills the pool.
struct Filling {
    pool: Weak<Pool>,
    is_over: bool,
}

impl Filling {
    /// Fills it. One that can't be made ends it: the next session says why, or finds it mended.
    async fn fill(mut self) {
        while let Some(pool) = self.pool.upgrade() {
            let Ok(begun) = pool.warm().await else { return };
            self.is_over = !pool.add(begun);
            if self.is_over {
                return;
            }
        }
    }
}

impl Drop for Filling {
    /// Also where it failed, or its runtime ends before it does.
    fn drop(&mut self) {
        if let (false, Some(pool)) = (self.is_over, self.pool.upgrade()) {
            pool.sorted_out().is_filling = false;
        }
    }
}
