//! How long somebody waits for what a backend has to get first, and who is told of it meanwhile.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{OutputSource, OutputWatcher};

/// Somebody who waits.
#[derive(Debug, Clone)]
pub struct Waiting {
    until: Instant,
    watcher: Option<Arc<dyn OutputWatcher>>,
}

impl Waiting {
    /// Waits until then.
    #[must_use]
    pub fn until(until: Instant) -> Self {
        Self { until, watcher: None }
    }

    /// The same, and somebody sees what is waited for: a line now and then, as of standard error.
    #[must_use]
    pub fn watched(mut self, watcher: Option<Arc<dyn OutputWatcher>>) -> Self {
        self.watcher = watcher;
        self
    }

    /// How long it still waits.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Says what is waited for.
    pub fn tell(&self, what: &str) {
        if let Some(watcher) = &self.watcher {
            watcher.output(OutputSource::Stderr, &format!("[{what}]\n"));
        }
    }
}
