//! The two things that end a chain in the middle of waiting: cancellation and the wall clock.

use std::{future::Future, time::Duration};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{StopReason, metrics::millis};

/// Watches over everything a chain waits for.
#[derive(Debug)]
pub(crate) struct Interrupt {
    cancellation: CancellationToken,
    started: Instant,
    budget: Option<Duration>,
}

impl Interrupt {
    /// Starts the clock.
    pub(crate) fn new(cancellation: CancellationToken, budget: Option<Duration>) -> Self {
        Self { cancellation, started: Instant::now(), budget }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The reason to stop now, where there is one.
    pub(crate) fn check(&self) -> Result<(), StopReason> {
        if self.cancellation.is_cancelled() {
            return Err(StopReason::Cancelled);
        }
        match self.budget {
            Some(budget) if self.elapsed() >= budget => Err(wall_clock(budget)),
            _ => Ok(()),
        }
    }

    /// Waits for `work`; gives it up (drops it) when the chain is interrupted.
    pub(crate) async fn watch<F: Future>(&self, work: F) -> Result<F::Output, StopReason> {
        self.check()?;
        tokio::select! {
            biased;
            stop = self.interrupted() => Err(stop),
            done = work => Ok(done),
        }
    }

    async fn interrupted(&self) -> StopReason {
        let Some(budget) = self.budget else {
            self.cancellation.cancelled().await;
            return StopReason::Cancelled;
        };
        tokio::select! {
            biased;
            () = self.cancellation.cancelled() => StopReason::Cancelled,
            () = tokio::time::sleep_until(self.started + budget) => wall_clock(budget),
        }
    }
}

fn wall_clock(budget: Duration) -> StopReason {
    StopReason::WallClock { budget_ms: millis(budget) }
}
