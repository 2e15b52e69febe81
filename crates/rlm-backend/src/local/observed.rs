//! What becomes of an operator's directory that sessions may write: since the first call, and since
//! the last one.
//!
//! It is looked at when the first call of a session begins, so that what happened while the session
//! waited to be asked for is not told of it. What others do in the directory meanwhile is told too.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use confine::{ChangeReport, Prepared, Watch};

/// A directory that outlives its session.
#[derive(Debug)]
pub(super) struct Observed {
    prepared: Prepared,
    since: Mutex<Option<Since>>,
}

/// What was there.
#[derive(Debug)]
struct Since {
    first_call: Watch,
    last_call: Watch,
}

impl Observed {
    /// Looks at nothing yet.
    pub(super) fn new(prepared: Prepared) -> Self {
        Self { prepared, since: Mutex::default() }
    }

    /// A call begins.
    pub(super) fn begin(&self) {
        self.since().get_or_insert_with(|| {
            let now = self.prepared.watch();
            Since { first_call: now.clone(), last_call: now }
        });
    }

    /// Whether the host may not write a path for a session either.
    pub(super) fn protects(&self, path: &Path) -> bool {
        self.begin();
        self.since().as_ref().is_some_and(|since| since.last_call.protects(path))
    }

    /// What is another than after the call before.
    pub(super) fn since_last_call(&self) -> Option<ChangeReport> {
        self.since().as_mut().map(|since| since.last_call.advance())
    }

    /// What is another than before the first call.
    pub(super) fn since_first_call(&self) -> Option<ChangeReport> {
        self.since().as_ref().map(|since| since.first_call.report())
    }

    fn since(&self) -> MutexGuard<'_, Option<Since>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
