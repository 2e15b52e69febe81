//! A backend of sessions that starts nothing: drivers played by a closure, over real pipes.
//!
//! What is tested with it is everything above the driver: the link, the manager, the tool. The closure
//! gets the code of each call and says what is printed, shown and returned; it can wait for the
//! interrupt, or die. Files are a map in memory. No interpreter and no confinement is needed, so such
//! a test says nothing of either.

mod driver;
mod files;
mod played;
mod wire;

use std::{
    fmt, io,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use rlm_backend::{Backend, BackendError, Channels, Files, Language, Place, Started};
use serde_json::json;

pub use self::played::{Played, Scene};
use self::{
    driver::{Death, Driver},
    files::FilesInMemory,
};

/// What a driver does with the code of a call.
pub type Script = dyn Fn(&Scene<'_>) -> Played + Send + Sync;

/// A backend whose drivers play a script. Clones count together.
#[derive(Clone)]
pub struct MockBackend {
    name: &'static str,
    missing: Option<&'static str>,
    script: Arc<Script>,
    counts: Arc<Counts>,
}

/// How often something was done.
#[derive(Debug, Default)]
struct Counts {
    opened: AtomicUsize,
    started: AtomicUsize,
    closed: AtomicUsize,
    deaths: Mutex<Vec<Death>>,
}

impl MockBackend {
    /// A backend that is there, named `mock`.
    pub fn new(script: impl Fn(&Scene<'_>) -> Played + Send + Sync + 'static) -> Self {
        let script = Arc::new(script);
        Self { name: "mock", missing: None, script, counts: Arc::default() }
    }

    /// A backend that can't be had, and says why.
    #[must_use]
    pub fn missing(name: &'static str, why: &'static str) -> Self {
        Self { name, missing: Some(why), ..Self::new(|_| Played::default()) }
    }

    /// The same under another name.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// How many places were made.
    #[must_use]
    pub fn opened(&self) -> usize {
        self.counts.opened.load(Ordering::SeqCst)
    }

    /// How many drivers were started.
    #[must_use]
    pub fn started(&self) -> usize {
        self.counts.started.load(Ordering::SeqCst)
    }

    /// Ends every driver there is, as a signal from outside would.
    pub fn kill_drivers(&self) {
        let mut deaths = self.counts.deaths.lock().unwrap_or_else(PoisonError::into_inner);
        deaths.drain(..).for_each(|death| death.come());
    }

    /// How many places were freed.
    #[must_use]
    pub fn closed(&self) -> usize {
        self.counts.closed.load(Ordering::SeqCst)
    }
}

impl fmt::Debug for MockBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, counts, .. } = self;
        f.debug_struct("MockBackend").field("name", name).field("counts", counts).finish()
    }
}

impl Backend for MockBackend {
    fn name(&self) -> &str {
        self.name
    }

    fn probe(&self) -> Result<(), BackendError> {
        self.missing.map_or(Ok(()), |why| Err(BackendError::new(why)))
    }

    fn open(&self) -> Result<Box<dyn Place>, BackendError> {
        self.probe()?;
        self.counts.opened.fetch_add(1, Ordering::SeqCst);
        let (script, counts) = (Arc::clone(&self.script), Arc::clone(&self.counts));
        Ok(Box::new(MockPlace { script, counts, files: FilesInMemory::default() }))
    }
}

/// A place without a process.
struct MockPlace {
    script: Arc<Script>,
    counts: Arc<Counts>,
    files: FilesInMemory,
}

impl fmt::Debug for MockPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MockPlace").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Place for MockPlace {
    fn start(&self, language: Language) -> Result<Started, BackendError> {
        self.counts.started.fetch_add(1, Ordering::SeqCst);
        let begin = || -> io::Result<(Channels, Driver)> {
            let (driver_in, control_in) = io::pipe()?;
            let (control_out, driver_out) = io::pipe()?;
            let (stdout, driver_stdout) = io::pipe()?;
            let (stderr, driver_stderr) = io::pipe()?;
            let ends = wire::Ends::new(driver_in, driver_out, driver_stdout, driver_stderr);
            let files = self.files.clone();
            let driver = Driver::begin(language, ends, Arc::clone(&self.script), files)?;
            let channels = Channels {
                control_in: control_in.into(),
                control_out: control_out.into(),
                stdout: stdout.into(),
                stderr: stderr.into(),
            };
            Ok((channels, driver))
        };
        let begun = begin();
        let (channels, driver) = begun.map_err(|error| BackendError::new(error.to_string()))?;
        let mut deaths = self.counts.deaths.lock().unwrap_or_else(PoisonError::into_inner);
        deaths.push(driver.death());
        Ok(Started {
            channels,
            process: Box::new(driver),
            confinement: json!({"mock": {"status": "enforced"}}),
            limit: Arc::new(OnceLock::new()),
        })
    }

    fn files(&self) -> Option<&dyn Files> {
        Some(&self.files)
    }

    fn close(&self) -> io::Result<()> {
        self.counts.closed.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}
