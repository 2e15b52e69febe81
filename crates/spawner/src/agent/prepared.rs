//! The last confinement of each provider, so that the next one like it starts as fast.
//!
//! Nothing that was decided is taken for granted: every agent's confinement is decided anew, sockets and
//! all. What is kept is what was made for the same decisions, which is the child that `confine` builds
//! ahead.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use confine::{Confinement, PrepareError, Prepared};

/// The last confinement of each provider.
#[derive(Debug, Default)]
pub(crate) struct LastPrepared {
    by_provider: Mutex<BTreeMap<String, Prepared>>,
}

impl LastPrepared {
    /// Decides, and keeps what was made for the next agent of the provider. Blocks.
    pub(super) fn prepare(
        &self,
        provider: &str,
        confinement: &Confinement,
    ) -> Result<Prepared, PrepareError> {
        let kept = || self.by_provider.lock().unwrap_or_else(PoisonError::into_inner);
        let last = kept().get(provider).cloned();
        let prepared = match &last {
            Some(last) => confinement.prepare_like(last),
            None => confinement.prepare(),
        }?;
        let before = kept().insert(provider.to_owned(), prepared.clone());
        // What waited for another confinement ends with it, which is nobody's to wait for.
        drop((before, last));
        Ok(prepared)
    }
}
