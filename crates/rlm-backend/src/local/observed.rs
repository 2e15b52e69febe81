//! What becomes of an operator's directory that sessions may write: since the first call, and since
//! the last one.
//!
//! It is looked at when the first call of a session begins, so that what happened while the session
//! waited to be asked for is not told of it. What others do in the directory meanwhile is told too.

use std::{
    fmt,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use confine::{ChangeReport, Watch};

/// A directory that outlives its session.
pub(crate) struct Observed {
    look: Box<dyn Fn() -> Watch + Send + Sync>,
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
    pub(crate) fn new(look: impl Fn() -> Watch + Send + Sync + 'static) -> Self {
        Self { look: Box::new(look), since: Mutex::default() }
    }

    /// A call begins.
    pub(crate) fn begin(&self) {
        self.since().get_or_insert_with(|| {
            let now = (self.look)();
            Since { first_call: now.clone(), last_call: now }
        });
    }

    /// Whether the host may not write a path for a session either.
    pub(crate) fn protects(&self, path: &Path) -> bool {
        self.begin();
        self.since().as_ref().is_some_and(|since| since.last_call.protects(path))
    }

    /// What is another than after the call before.
    pub(crate) fn since_last_call(&self) -> Option<ChangeReport> {
        self.since().as_mut().map(|since| since.last_call.advance())
    }

    /// What is another than before the first call.
    pub(crate) fn since_first_call(&self) -> Option<ChangeReport> {
        self.since().as_ref().map(|since| since.first_call.report())
    }

    fn since(&self) -> MutexGuard<'_, Option<Since>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observed").finish_non_exhaustive()
    }
}
