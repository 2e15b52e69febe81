//! A bounded pool of threads for executors that block.
//!
//! In: a closure. Out: a future of what it returns. Dropping the future gives the work up: a closure
//! that has not begun never begins; one that runs is *abandoned*, its thread is counted and replaced.
//! Rust can't end a thread, so that is all that can be done in process, and the count is what keeps it
//! bounded: past [`PoolConfig::max_abandoned`], further work is refused instead of piling up. An
//! abandoned closure that returns after all gives its thread back.
//!
//! Why not `tokio::task::spawn_blocking`: its pool grows to hundreds of threads, counts nothing, and
//! makes the runtime wait for hanging threads when it ends.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::sync::oneshot;
use tool_core::ToolError;

use crate::panic_text;

/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(10);

/// The bounds of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolConfig {
    /// Threads that work at once.
    pub threads: usize,
    /// Threads that may hang in abandoned work before further work is refused.
    pub max_abandoned: usize,
    /// Calls that may wait for a thread.
    pub max_queued: usize,
}

impl Default for PoolConfig {
    /// 8 threads, 16 abandoned, 1024 waiting.
    fn default() -> Self {
        Self { threads: 8, max_abandoned: 16, max_queued: 1024 }
    }
}

/// What a pool is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolStatus {
    /// Threads that work or wait for work.
    pub threads: usize,
    /// Threads that hang in abandoned work.
    pub abandoned: usize,
    /// Calls that wait for a thread.
    pub queued: usize,
}

/// The pool. Cheap to clone; its threads end when the last clone is gone and their work is done.
#[derive(Debug, Clone)]
pub struct BlockingPool {
    owner: Arc<Owner>,
}

/// Ends the threads when the last handle is dropped; the threads themselves hold only `Shared`.
#[derive(Debug)]
struct Owner(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    config: PoolConfig,
    state: Mutex<State>,
    work_came: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    /// Threads that are not abandoned.
    threads: usize,
    /// Of those, the ones that wait for work.
    idle: usize,
    abandoned: usize,
    is_closed: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("queued", &self.queue.len())
            .field("threads", &self.threads)
            .field("abandoned", &self.abandoned)
            .finish_non_exhaustive()
    }
}

struct Job {
    phase: Arc<Phase>,
    work: Box<dyn FnOnce() + Send>,
}

/// Where a job stands; each step is taken once, by whoever wins the exchange.
#[derive(Debug)]
struct Phase(AtomicU8);

const QUEUED: u8 = 0;
const RUNNING: u8 = 1;
const DONE: u8 = 2;
const GIVEN_UP: u8 = 3;

impl Phase {
    fn is(&self, phase: u8) -> bool {
        self.0.load(Ordering::Acquire) == phase
    }

    fn step(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl BlockingPool {
    /// A pool with these bounds. No thread is started before there is work.
    #[must_use]
    pub fn new(config: PoolConfig) -> Self {
        let shared = Shared { config, state: Mutex::default(), work_came: Condvar::new() };
        Self { owner: Arc::new(Owner(Arc::new(shared))) }
    }

    /// What the pool is doing now.
    #[must_use]
    pub fn status(&self) -> PoolStatus {
        let state = self.owner.0.lock();
        let (threads, abandoned) = (state.threads, state.abandoned);
        PoolStatus { threads, abandoned, queued: state.queue.len() }
    }

    /// Runs `work` on a thread of the pool.
    ///
    /// # Errors
    /// Whatever `work` returns; `execution_failed` when it panics; `limit_exceeded` when too many
    /// threads hang, too many calls wait, or the machine gives no thread.
    pub async fn run<T, F>(&self, work: F) -> Result<T, ToolError>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, ToolError> + Send + 'static,
    {
        let phase = Arc::new(Phase(AtomicU8::new(QUEUED)));
        let (sender, receiver) = oneshot::channel();
        let done = Arc::clone(&phase);
        let work = Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
                Err(ToolError::failed(format!("the tool panicked: {}", panic_text(&*panic))))
            });
            // Done before the caller knows it, so that it can't give up what it has received.
            if done.step(RUNNING, DONE) {
                // The receiver can go at any moment; then nobody wants the result.
                let _ = sender.send(result);
            }
        });
        self.owner.0.submit(Job { phase: Arc::clone(&phase), work })?;
        let waiting = Waiting { shared: Arc::clone(&self.owner.0), phase };
        let result = receiver.await;
        drop(waiting);
        result.unwrap_or_else(|_| Err(ToolError::failed("the thread ended without a result")))
    }
}

/// The caller's side of a job; dropping it before the job is done gives it up.
struct Waiting {
    shared: Arc<Shared>,
    phase: Arc<Phase>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.phase.step(QUEUED, GIVEN_UP) && self.phase.is(RUNNING) {
            self.shared.abandon(&self.phase);
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.work_came.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held, and the state is whole at every step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn submit(self: &Arc<Self>, job: Job) -> Result<(), ToolError> {
        let mut state = self.lock();
        if state.abandoned >= self.config.max_abandoned {
            return Err(limit("abandoned_threads", self.config.max_abandoned, "hang already"));
        }
        state.queue.retain(|job| job.phase.is(QUEUED));
        if state.queue.len() >= self.config.max_queued {
            return Err(limit("queued_calls", self.config.max_queued, "wait already"));
        }
        state.queue.push_back(job);
        if state.idle >= state.queue.len() {
            self.work_came.notify_one();
            return Ok(());
        }
        if let (Err(error), 0) = (self.add_thread(&mut state), state.threads) {
            state.queue.pop_back();
            let message = format!("the machine gives no further thread: {error}");
            return Err(ToolError::LimitExceeded { limit: "threads".to_owned(), message });
        }
        Ok(())
    }

    /// Starts a thread if the pool has room for one.
    fn add_thread(self: &Arc<Self>, state: &mut State) -> std::io::Result<()> {
        if state.threads >= self.config.threads.max(1) {
            return Ok(());
        }
        let shared = Arc::clone(self);
        thread::Builder::new().name("remit-executor".to_owned()).spawn(move || shared.work())?;
        state.threads += 1;
        Ok(())
    }

    /// Gives work up that runs: its thread counts as abandoned, and is replaced if work waits. The
    /// step is taken under the lock, so that the thread can't take itself off the count before it is
    /// on it.
    fn abandon(self: &Arc<Self>, phase: &Phase) {
        let mut state = self.lock();
        if !phase.step(RUNNING, GIVEN_UP) {
            return;
        }
        state.threads -= 1;
        state.abandoned += 1;
        if state.queue.len() > state.idle && self.add_thread(&mut state).is_err() {
            tracing::warn!("no thread could be started in place of one that hangs");
        }
    }

    /// The life of a thread.
    fn work(self: Arc<Self>) {
        while let Some(job) = self.next_job() {
            if !job.phase.step(QUEUED, RUNNING) {
                continue;
            }
            (job.work)();
            if job.phase.is(DONE) {
                continue;
            }
            let mut state = self.lock();
            state.abandoned -= 1;
            if state.threads >= self.config.threads || state.is_closed {
                return;
            }
            state.threads += 1;
        }
    }

    /// The next job; `None` when the thread should end, and is then no longer counted.
    fn next_job(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.queue.pop_front() {
                return Some(job);
            }
            state.idle += 1;
            let waited = self.work_came.wait_timeout(state, IDLE);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = guard;
            state.idle -= 1;
            let is_over = state.is_closed || timeout.timed_out();
            if is_over && state.queue.is_empty() {
                state.threads -= 1;
                return None;
            }
        }
    }
}

fn limit(limit: &str, most: usize, what: &str) -> ToolError {
    let message = format!("{most} {what}; try again when some have ended.");
    ToolError::LimitExceeded { limit: limit.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Instant};

    use tool_core::ErrorKind;

    use super::*;

    fn pool(threads: usize, max_abandoned: usize) -> BlockingPool {
        BlockingPool::new(PoolConfig { threads, max_abandoned, max_queued: 2 })
    }

    async fn until(pool: &BlockingPool, is_reached: impl Fn(PoolStatus) -> bool) {
        let end = Instant::now() + Duration::from_secs(10);
        while !is_reached(pool.status()) {
            assert!(Instant::now() < end, "{:?}", pool.status());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn threads_are_reused_and_panics_are_results() {
        let pool = pool(1, 1);
        for n in 0..100 {
            assert_eq!(pool.run(move || Ok(n)).await, Ok(n));
        }
        let panicked = pool.run::<(), _>(|| panic!("boom")).await.unwrap_err();
        assert!(panicked.to_string().contains("the tool panicked: boom"), "{panicked}");
        assert_eq!(pool.run(|| Ok(1)).await, Ok(1));
        assert_eq!(pool.status().threads, 1);
    }

    #[tokio::test]
    async fn a_hanging_call_is_abandoned_counted_and_given_back() {
        let pool = pool(1, 2);
        let mut releases = Vec::new();
        for abandoned in 1..=2 {
            let (release, held) = mpsc::channel::<()>();
            releases.push(release);
            let hang = pool.run(move || Ok(held.recv().is_ok()));
            assert!(tokio::time::timeout(Duration::from_millis(50), hang).await.is_err());
            assert_eq!(pool.status().abandoned, abandoned);
        }
        let refused = pool.run(|| Ok(())).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::LimitExceeded);
        releases.clear();
        until(&pool, |status| status.abandoned == 0).await;
        assert_eq!(pool.run(|| Ok(7)).await, Ok(7));
        assert!(pool.status().threads <= 1);
    }

    #[tokio::test]
    async fn work_that_was_given_up_in_the_queue_never_begins() {
        let pool = pool(1, 1);
        let (release, held) = mpsc::channel::<()>();
        let busy = tokio::spawn({
            let pool = pool.clone();
            async move { pool.run(move || Ok(held.recv().is_ok())).await }
        });
        until(&pool, |status| status.threads == 1 && status.queued == 0).await;
        let (began, beginnings) = mpsc::channel();
        let queued = pool.run(move || Ok(began.send(()).is_ok()));
        assert!(tokio::time::timeout(Duration::from_millis(20), queued).await.is_err());
        drop(release);
        assert_eq!(busy.await.unwrap(), Ok(false));
        assert_eq!(pool.run(|| Ok(())).await, Ok(()));
        assert!(beginnings.try_recv().is_err());
        assert_eq!(pool.status().abandoned, 0);
    }

    #[tokio::test]
    async fn giving_up_at_the_moment_of_the_end_keeps_the_count() {
        let pool = pool(2, 1_000_000);
        for n in 0..2_000u32 {
            let work = pool.run(move || {
                std::thread::sleep(Duration::from_micros(u64::from(n % 40)));
                Ok(())
            });
            let (begun, patience) = (Instant::now(), Duration::from_micros(u64::from(n % 97)));
            let impatient = async {
                while begun.elapsed() < patience {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                biased;
                _ = work => {}
                () = impatient => {}
            }
        }
        until(&pool, |status| status.abandoned == 0).await;
        assert!(pool.status().threads <= 2);
        assert_eq!(pool.run(|| Ok(7)).await, Ok(7));
    }

    #[tokio::test]
    async fn the_queue_is_bounded() {
        let pool = pool(1, 9);
        let (release, held) = mpsc::channel::<()>();
        let (first, others) = (pool.clone(), pool.clone());
        let busy = tokio::spawn(async move { first.run(move || Ok(held.recv().is_ok())).await });
        until(&pool, |status| status.threads == 1 && status.queued == 0).await;
        let waiting: Vec<_> = (0..2)
            .map(|_| {
                let pool = others.clone();
                tokio::spawn(async move { pool.run(|| Ok(())).await })
            })
            .collect();
        until(&pool, |status| status.queued == 2).await;
        assert_eq!(pool.run(|| Ok(())).await.unwrap_err().kind(), ErrorKind::LimitExceeded);
        drop(release);
        busy.await.unwrap().unwrap();
        for waiting in waiting {
            waiting.await.unwrap().unwrap();
        }
    }
}
