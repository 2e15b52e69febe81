//! What all queries of a tree share, and one level of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Semaphore, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    ContextFile, QueryConfig, QueryEvent, QueryObserver, QueryRecord, Replay, StopReason,
    budget::Budget, engine::Shared,
};

/// What all queries of a tree share.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) shared: Arc<Shared>,
    pub(super) bounds: Bounds,
    pub(super) observer: Arc<dyn QueryObserver>,
    pub(super) cancel: CancellationToken,
    pub(super) replay: Mutex<Replay>,
    /// How many sub-calls may be with a model at once.
    pub(super) limiter: Semaphore,
    pub(super) began: Instant,
    last_query: AtomicU64,
    deepest: AtomicU64,
}

/// Bounds of a tree that are not spent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) depth: u64,
    pub(super) iterations: u64,
}

impl Tree {
    pub(super) fn new(
        shared: Arc<Shared>,
        bounds: Bounds,
        observer: Arc<dyn QueryObserver>,
        cancel: CancellationToken,
        replay: Replay,
    ) -> Self {
        let concurrency = usize::try_from(shared.config.concurrency).unwrap_or(1);
        Self {
            shared,
            bounds,
            observer,
            cancel,
            replay: Mutex::new(replay),
            limiter: Semaphore::new(concurrency),
            began: Instant::now(),
            last_query: AtomicU64::new(0),
            deepest: AtomicU64::new(0),
        }
    }

    /// A number for one more query.
    pub(super) fn next_query(&self) -> u64 {
        self.last_query.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How deep the deepest query was.
    pub(super) fn deepest(&self) -> u64 {
        self.deepest.load(Ordering::Relaxed)
    }

    pub(super) fn config(&self) -> &QueryConfig {
        &self.shared.config
    }

    pub(super) fn emit(&self, event: QueryEvent) {
        let at_ms = ms(self.began.elapsed());
        self.observer.observe(&QueryRecord { at_ms, event });
    }
}

/// One query of a tree, as its code and its loop see it.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) tree: Arc<Tree>,
    pub(super) query: u64,
    pub(super) parent: Option<u64>,
    pub(super) depth: u64,
    pub(super) budget: Budget,
    turn: AtomicU64,
    /// What code asked for in this turn and is no more to be had.
    refused: Mutex<BTreeSet<&'static str>>,
    uploads: Mutex<Uploads>,
}

/// Large contexts that code hands over in pieces.
#[derive(Debug, Default)]
pub(super) struct Uploads {
    pub(super) files: BTreeMap<u64, ContextFile>,
    pub(super) bytes: u64,
    pub(super) last: u64,
}

impl Level {
    pub(super) fn new(
        tree: Arc<Tree>,
        query: u64,
        parent: Option<u64>,
        depth: u64,
        budget: Budget,
    ) -> Self {
        let (refused, uploads) = (Mutex::default(), Mutex::default());
        Self { tree, query, parent, depth, budget, turn: AtomicU64::new(0), refused, uploads }
    }

    /// A query one level down, with a share of what is left.
    pub(super) fn below(&self) -> Self {
        let share = self.tree.config().child_share_percent;
        let (tree, query) = (Arc::clone(&self.tree), self.tree.next_query());
        tree.deepest.fetch_max(self.depth + 1, Ordering::Relaxed);
        Self::new(tree, query, Some(self.query), self.depth + 1, self.budget.child(share))
    }

    pub(super) fn turn(&self) -> u64 {
        self.turn.load(Ordering::Relaxed)
    }

    pub(super) fn begin_turn(&self) -> u64 {
        self.turn.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Takes note that something is no more to be had.
    pub(super) fn refuse(&self, why: StopReason) {
        lock(&self.refused).insert(why.as_str());
    }

    /// What was refused since this was last asked.
    pub(super) fn take_refused(&self) -> BTreeSet<&'static str> {
        std::mem::take(&mut *lock(&self.refused))
    }

    pub(super) fn uploads(&self) -> MutexGuard<'_, Uploads> {
        lock(&self.uploads)
    }

    /// Waits for something that keeps to the deadline by itself.
    pub(super) async fn unless_cancelled<T>(
        &self,
        work: impl Future<Output = T> + Send,
    ) -> Result<T, StopReason> {
        tokio::select! {
            biased;
            () = self.tree.cancel.cancelled() => Err(StopReason::Cancelled),
            done = work => Ok(done),
        }
    }

    /// Waits for something, but no longer than the query may last.
    pub(super) async fn within<T>(
        &self,
        work: impl Future<Output = T> + Send,
    ) -> Result<T, StopReason> {
        tokio::select! {
            biased;
            () = self.tree.cancel.cancelled() => Err(StopReason::Cancelled),
            () = tokio::time::sleep_until(self.budget.deadline()) => Err(StopReason::TimeBudget),
            done = work => Ok(done),
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A time in milliseconds, to the microsecond.
pub(super) fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
