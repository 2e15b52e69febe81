//! What a tool knows of the call it works on: its limits, its deadline, and whether to stop.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{AuthorizationScope, CallId, Limits, Timeout};

/// The envelope of one call, seen from inside. Cheap to clone.
///
/// A tool that loops asks [`is_cancelled`](Self::is_cancelled); one that waits selects on
/// [`cancelled`](Self::cancelled). Both are true once the deadline has passed, the caller stopped, or
/// the result is no longer wanted.
#[derive(Debug, Clone)]
pub struct ExecContext {
    call_id: CallId,
    limits: Limits,
    timeout: Timeout,
    deadline: Instant,
    end: Arc<End>,
    cancellation: CancellationToken,
    scope: Arc<AuthorizationScope>,
}

/// The end of one call. Lighter than a token of its own: most calls are over before anybody asks.
#[derive(Debug, Default)]
struct End {
    has_come: AtomicBool,
    came: Notify,
}

impl ExecContext {
    /// A context whose deadline is `timeout` from now, and which `cancellation` cancels.
    #[must_use]
    pub fn new(
        call_id: CallId,
        limits: Limits,
        timeout: Timeout,
        cancellation: CancellationToken,
        scope: Arc<AuthorizationScope>,
    ) -> Self {
        let deadline = Instant::now() + timeout.after;
        Self { call_id, limits, timeout, deadline, end: Arc::default(), cancellation, scope }
    }

    /// The id of the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.call_id
    }

    /// The ceilings of the call.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The timeout, and who set it.
    #[must_use]
    pub fn timeout(&self) -> Timeout {
        self.timeout
    }

    /// When the call is answered at the latest.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The time left; zero after the deadline.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Whether to stop: cancelled, no longer wanted, or past the deadline.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.end.has_come.load(Ordering::Acquire)
            || self.cancellation.is_cancelled()
            || self.remaining().is_zero()
    }

    /// Resolves when the call is cancelled or no longer wanted. The deadline is watched by the
    /// pipeline, which ends the call.
    pub async fn cancelled(&self) {
        let came = self.end.came.notified();
        if self.end.has_come.load(Ordering::Acquire) {
            return;
        }
        tokio::select! {
            () = came => {}
            () = self.cancellation.cancelled() => {}
        }
    }

    /// Says that the result is no longer wanted: every clone of this context is then cancelled.
    pub fn end(&self) {
        self.end.has_come.store(true, Ordering::Release);
        self.end.came.notify_waiters();
    }

    /// What the caller may call; a tool that calls tools for a model intersects with it.
    #[must_use]
    pub fn scope(&self) -> &AuthorizationScope {
        &self.scope
    }
}
