//! Tells once, and not at every turn, which tools a model is not offered.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use crate::LeftOut;

/// The tools that a provider has warned of.
#[derive(Debug, Default)]
pub(crate) struct Warned(Mutex<BTreeSet<String>>);

impl Warned {
    /// Warns of those that it has not warned of before.
    pub(crate) fn warn(&self, model: &str, left_out: &[LeftOut]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for LeftOut { name, reason } in left_out {
            if known.insert(name.clone()) {
                tracing::warn!(model, tool = name, reason, "a tool can't be offered to this model");
            }
        }
    }
}
