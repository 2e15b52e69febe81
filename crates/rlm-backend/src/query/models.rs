//! The models of queries: one that works, one for sub-calls, and others that may be asked for by name.

use std::{collections::BTreeMap, sync::Arc};

use model::{Model, Sampling};

/// The models of queries.
#[derive(Debug, Clone)]
pub struct QueryModels {
    pub(super) root: Arc<dyn Model>,
    pub(super) leaf: Arc<dyn Model>,
    named: BTreeMap<String, Arc<dyn Model>>,
    pub(super) sampling: Sampling,
}

impl QueryModels {
    /// One model for everything.
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> Self {
        let named = BTreeMap::from([(model.name().to_owned(), Arc::clone(&model))]);
        Self { root: Arc::clone(&model), leaf: model, named, sampling: Sampling::default() }
    }

    /// Another one for sub-calls.
    #[must_use]
    pub fn with_leaf(mut self, model: Arc<dyn Model>) -> Self {
        self.named.insert(model.name().to_owned(), Arc::clone(&model));
        self.leaf = model;
        self
    }

    /// One more that may be asked for by its name.
    #[must_use]
    pub fn with_named(mut self, model: Arc<dyn Model>) -> Self {
        self.named.insert(model.name().to_owned(), model);
        self
    }

    /// How replies are drawn.
    #[must_use]
    pub fn with_sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// The names of all.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.named.keys().map(String::as_str)
    }

    /// The model of this name, or `default`; the names that there are where there is none.
    pub(super) fn pick<'a>(
        &'a self,
        name: Option<&str>,
        default: &'a Arc<dyn Model>,
    ) -> Result<&'a Arc<dyn Model>, String> {
        let Some(name) = name else { return Ok(default) };
        self.named.get(name).ok_or_else(|| {
            let known: Vec<_> = self.named.keys().map(String::as_str).collect();
            let name = tool_core::clip(name, 80);
            format!("there is no model {name:?}; the models are: {}", known.join(", "))
        })
    }
}
