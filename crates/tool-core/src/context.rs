//! What a tool knows of the call it works on: its limits, its deadline, and whether to stop.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{AuthorizationScope, CallId, Limits, Progress, ProgressSink, Timeout};

/// The envelope of one call, seen from inside. Cheap to clone.
///
/// A tool that loops asks [`is_cancelled`](Self::is_cancelled); one that waits selects on
/// [`cancelled`](Self::cancelled). Both are true once the deadline has passed, the caller stopped, or
/// the result is no longer wanted.
#[derive(Debug, Clone)]
pub struct ExecContext {
    call: Arc<OneCall>,
}

/// What all clones of one call's context share.
#[derive(Debug)]
struct OneCall {
    call_id: CallId,
    timeout: Timeout,
    deadline: Instant,
    has_ended: AtomicBool,
    ended: Notify,
    /// Held while something is shown, so that nothing is after the end.
    showing: Mutex<()>,
    circumstances: Arc<Circumstances>,
}

/// What all calls of one sandbox have alike.
#[derive(Debug, Clone)]
pub struct Circumstances {
    /// The ceilings of a call.
    pub limits: Limits,
    /// Cancels every call.
    pub cancellation: CancellationToken,
    /// What may be called.
    pub scope: Arc<AuthorizationScope>,
    /// Who watches the calls, where somebody does.
    pub progress: Option<Arc<dyn ProgressSink>>,
}

impl ExecContext {
    /// A context whose deadline is `timeout` after `started`.
    #[must_use]
    pub fn new(
        call_id: CallId,
        started: Instant,
        timeout: Timeout,
        circumstances: Arc<Circumstances>,
    ) -> Self {
        let call = OneCall {
            call_id,
            timeout,
            deadline: started + timeout.after,
            has_ended: AtomicBool::new(false),
            ended: Notify::new(),
            showing: Mutex::new(()),
            circumstances,
        };
        Self { call: Arc::new(call) }
    }

    /// The id of the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.call.call_id
    }

    /// The ceilings of the call.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.call.circumstances.limits
    }

    /// The timeout, and who set it.
    #[must_use]
    pub fn timeout(&self) -> Timeout {
        self.call.timeout
    }

    /// When the call is answered at the latest.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.call.deadline
    }

    /// The time left; zero after the deadline.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.call.deadline.saturating_duration_since(Instant::now())
    }

    /// Whether to stop: cancelled, no longer wanted, or past the deadline.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.call.has_ended.load(Ordering::Acquire)
            || self.call.circumstances.cancellation.is_cancelled()
            || self.remaining().is_zero()
    }

    /// Resolves when the call is cancelled or no longer wanted. The deadline is watched by the
    /// pipeline, which ends the call.
    pub async fn cancelled(&self) {
        let ended = self.call.ended.notified();
        if self.call.has_ended.load(Ordering::Acquire) {
            return;
        }
        tokio::select! {
            () = ended => {}
            () = self.call.circumstances.cancellation.cancelled() => {}
        }
    }

    /// Says that the result is no longer wanted: every clone of this context is then cancelled. Whoever
    /// watches is told that the call has ended.
    pub fn end(&self) {
        if self.is_watched() {
            self.show_once(Progress::Ended, |has_ended| !has_ended.swap(true, Ordering::AcqRel));
        }
        // The last one has nobody to tell.
        if Arc::strong_count(&self.call) > 1 {
            self.call.has_ended.store(true, Ordering::Release);
            self.call.ended.notify_waiters();
        }
    }

    /// Whether somebody watches, so that a tool need not make what nobody sees.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.call.circumstances.progress.is_some()
    }

    /// Shows a step of the work to whoever watches, until the call has ended.
    pub fn progress(&self, progress: Progress<'_>) {
        self.show_once(progress, |has_ended| !has_ended.load(Ordering::Acquire));
    }

    /// Shows a step where `is_time` says so; nothing else is shown meanwhile.
    fn show_once(&self, progress: Progress<'_>, is_time: impl FnOnce(&AtomicBool) -> bool) {
        let Some(sink) = &self.call.circumstances.progress else { return };
        let _one_at_a_time = self.call.showing.lock().unwrap_or_else(PoisonError::into_inner);
        if is_time(&self.call.has_ended) {
            sink.progress(&self.call.call_id, progress);
        }
    }

    /// What the caller may call; a tool that calls tools for a model intersects with it.
    #[must_use]
    pub fn scope(&self) -> &AuthorizationScope {
        &self.call.circumstances.scope
    }
}
