//! Which of the backends that a configuration lists is used: the first that can be had.
//!
//! What is not listed is never used, and a choice holds for as long as the program runs: sessions
//! don't change their isolation because a service came back.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use super::{Backend, BackendError, Place, Waiting};

/// The backends that may be used, in the order in which they are tried.
#[derive(Debug)]
pub(crate) struct Backends {
    listed: Vec<Arc<dyn Backend>>,
    chosen: OnceLock<Arc<dyn Backend>>,
}

impl Backends {
    /// Looks at nothing yet.
    pub(crate) fn new(listed: Vec<Arc<dyn Backend>>) -> Self {
        Self { listed, chosen: OnceLock::new() }
    }

    /// Whether another backend than the first listed may be in use.
    pub(crate) fn is_choice(&self) -> bool {
        self.listed.len() > 1
    }

    /// Makes a place that can read these files of the host, and says which backend it is of. Blocks.
    pub(crate) fn open(&self, files: &[PathBuf]) -> Result<(Box<dyn Place>, String), BackendError> {
        let backend = self.choose()?;
        let place = if files.is_empty() { backend.open() } else { backend.open_reading(files) };
        Ok((place?, backend.name().to_owned()))
    }

    /// Whether the one that is used is known, and makes places without a wait.
    pub(crate) fn is_prepared(&self) -> bool {
        self.chosen.get().is_some_and(|backend| backend.is_prepared())
    }

    /// Has the one that is used get what takes long. Blocks.
    pub(crate) fn prepare(&self, waiting: &Waiting) -> Result<(), BackendError> {
        self.choose()?.prepare(waiting)
    }

    fn choose(&self) -> Result<&Arc<dyn Backend>, BackendError> {
        if let Some(chosen) = self.chosen.get() {
            return Ok(chosen);
        }
        let mut missing = Vec::new();
        for backend in &self.listed {
            match backend.probe() {
                Ok(()) => return Ok(self.chosen.get_or_init(|| Arc::clone(backend))),
                Err(error) => missing.push(format!("{}: {error}", backend.name())),
            }
        }
        Err(BackendError::new(match missing.len() {
            1 => missing.remove(0),
            _ => format!("no backend can be had: {}", missing.join("; ")),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// A backend that is there or is not, and opens nothing.
    #[derive(Debug)]
    struct Named(&'static str, AtomicBool);

    impl Backend for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn probe(&self) -> Result<(), BackendError> {
            let there = self.1.load(Ordering::SeqCst);
            there.then_some(()).ok_or_else(|| BackendError::new("not installed"))
        }

        fn open(&self) -> Result<Box<dyn Place>, BackendError> {
            Err(BackendError::new(format!("{} was opened", self.0)))
        }
    }

    fn named(name: &'static str, there: bool) -> Arc<Named> {
        Arc::new(Named(name, AtomicBool::new(there)))
    }

    #[test]
    fn the_first_that_is_there_is_used_and_stays() {
        let (first, second) = (named("first", false), named("second", true));
        let backends = Backends::new(vec![Arc::clone(&first) as _, second]);
        assert_eq!(backends.open(&[]).unwrap_err().to_string(), "second was opened");
        first.1.store(true, Ordering::SeqCst);
        assert_eq!(backends.open(&[]).unwrap_err().to_string(), "second was opened");
    }

    #[test]
    fn where_none_is_there_each_says_why_and_the_next_call_looks_again() {
        let (first, second) = (named("first", false), named("second", false));
        let backends = Backends::new(vec![Arc::clone(&first) as _, second]);
        assert_eq!(
            backends.open(&[]).unwrap_err().to_string(),
            "no backend can be had: first: not installed; second: not installed"
        );
        first.1.store(true, Ordering::SeqCst);
        assert_eq!(backends.open(&[]).unwrap_err().to_string(), "first was opened");
        let only = Backends::new(vec![named("first", false)]);
        assert_eq!(only.open(&[]).unwrap_err().to_string(), "first: not installed");
    }
}
