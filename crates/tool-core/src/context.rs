//! What a tool knows of the call it works on: its limits, its deadline, and whether to stop.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

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
    cancellation: CancellationToken,
    scope: Arc<AuthorizationScope>,
}

impl ExecContext {
    /// A context whose deadline is `timeout` from now.
    #[must_use]
    pub fn new(
        call_id: CallId,
        limits: Limits,
        timeout: Timeout,
        cancellation: CancellationToken,
        scope: Arc<AuthorizationScope>,
    ) -> Self {
        let deadline = Instant::now() + timeout.after;
        Self { call_id, limits, timeout, deadline, cancellation, scope }
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

    /// Whether to stop: cancelled, or past the deadline.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled() || self.remaining().is_zero()
    }

    /// Resolves when the call is cancelled. The deadline is watched by the pipeline, which cancels.
    pub async fn cancelled(&self) {
        self.cancellation.cancelled().await;
    }

    /// What the caller may call; a tool that calls tools for a model intersects with it.
    #[must_use]
    pub fn scope(&self) -> &AuthorizationScope {
        &self.scope
    }
}
