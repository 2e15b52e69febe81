//! A plan with the file that its children read it from.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use crate::launcher;
use crate::plan::{Guard, Plan};

/// A plan that is not changed any more.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) plan: Plan,
    /// The plan as the launcher gets it.
    pub(crate) file: OwnedFd,
}

impl Sealed {
    /// Writes a plan down.
    pub(super) fn new(plan: Plan) -> io::Result<Arc<Self>> {
        let file = launcher::memory_file(&plan.to_bytes()?)?;
        Ok(Arc::new(Self { plan, file }))
    }

    /// Whether this is what covers exactly these paths.
    fn covers(&self, guards: &[Guard]) -> bool {
        self.plan.namespaces.as_ref().is_some_and(|it| it.root.guards == guards)
    }
}

/// The plans of a confinement: the first one, and that of the last launch if it covered other paths.
/// A launch that covers what the one before it did has the same plan, and can use what was built for it.
#[derive(Debug, Clone)]
pub(crate) struct Plans {
    first: Arc<Sealed>,
    last: Arc<Mutex<Arc<Sealed>>>,
}

impl Plans {
    /// Begins with one.
    pub(super) fn new(plan: Plan) -> io::Result<Self> {
        let first = Sealed::new(plan)?;
        Ok(Self { last: Arc::new(Mutex::new(Arc::clone(&first))), first })
    }

    /// The first one.
    pub(super) fn first(&self) -> &Arc<Sealed> {
        &self.first
    }

    /// The one that covers these paths and does everything else that the first does.
    pub(super) fn covering(&self, guards: Vec<Guard>) -> io::Result<Arc<Sealed>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if !last.covers(&guards) {
            let mut plan = self.first.plan.clone();
            if let Some(namespaces) = &mut plan.namespaces {
                namespaces.root.guards = guards;
            }
            *last = Sealed::new(plan)?;
        }
        Ok(Arc::clone(&last))
    }
}
