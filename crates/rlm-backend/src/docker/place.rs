//! Where one session lives: a container, and another one where the first was lost.
//!
//! A container that is gone takes the interpreters and the private directory with it. The next driver
//! that is started has a new one, and the place says that its files were lost.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use confine::ChangeReport;
use serde_json::Value;

use super::{
    container::{Container, Wanted},
    core::Core,
    driver,
    files::ContainedFiles,
    request::{self, Answered, Pieces, Upload},
    settings,
    snapshots::ContainedSnapshots,
    workdir::Workdir,
};
use crate::{
    BackendError, Files, Language, Place, Snapshots, Started,
    local::{LocalFiles, Reach, Top, Watched},
};

/// How long everything from the fetch of an image to a supervisor's word may take.
const BEGIN: Duration = Duration::from_secs(30 * 60);
/// How long the engine may take to remove a container.
const REMOVE: Duration = Duration::from_secs(90);
/// How long files may take.
const FILES: Duration = Duration::from_secs(300);

/// A place.
#[derive(Debug)]
pub(super) struct DockerPlace {
    held: Arc<Held>,
    given: Option<LocalFiles>,
    private: Option<(ContainedFiles, ContainedSnapshots)>,
}

/// The container of a place.
#[derive(Debug)]
pub(super) struct Held {
    core: Arc<Core>,
    wanted: Wanted,
    current: Mutex<Option<Arc<Current>>>,
    losses: AtomicU64,
    is_closed: AtomicBool,
}

/// A container with what is known of its directory.
#[derive(Debug)]
struct Current {
    container: Container,
    watched: Option<Watched>,
}

impl DockerPlace {
    /// Makes the first container. Blocks.
    pub(super) fn open(core: &Arc<Core>, reading: &[PathBuf]) -> Result<Self, BackendError> {
        let Workdir { given, wanted, unguarded } = Workdir::of(&core.config, reading)?;
        let checking = Arc::clone(core);
        let is_given = given.is_some();
        let check = async move { checking.check(is_given, &unguarded).await };
        core.worker.wait(BEGIN, check).unwrap_or_else(|| Err(late()))?;
        let held = Arc::new(Held {
            core: Arc::clone(core),
            wanted,
            current: Mutex::default(),
            losses: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
        });
        held.current()?;
        let private = given.is_none().then(|| {
            let snapshots = ContainedSnapshots::new(Arc::clone(&held), core.config.disk_bytes);
            (ContainedFiles::new(Arc::clone(&held)), snapshots)
        });
        Ok(Self { held, given, private })
    }
}

fn late() -> BackendError {
    BackendError::new("the container engine did not answer in time")
}

impl Held {
    /// What was asked of the container at its making.
    pub(super) fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Current>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The container; a new one where the last was lost. Blocks.
    fn current(&self) -> Result<Arc<Current>, BackendError> {
        let mut current = self.lock();
        if let Some(there) = current.as_ref().filter(|it| it.container.wire.loss().is_none()) {
            return Ok(Arc::clone(there));
        }
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(BackendError::new("the session has ended"));
        }
        let was_there = current.take().is_some();
        let beginning = Container::begin(Arc::clone(&self.core), self.wanted.clone());
        let container = self.core.worker.wait(BEGIN, beginning).unwrap_or_else(|| Err(late()))?;
        if was_there {
            self.losses.fetch_add(1, Ordering::SeqCst);
        }
        let begun = Arc::new(Current { watched: self.watch(&container), container });
        *current = Some(Arc::clone(&begun));
        Ok(begun)
    }

    /// Looks at a private directory for the first time, where that can be done from here.
    fn watch(&self, container: &Container) -> Option<Watched> {
        let directory = &container.shared.as_ref()?.directory;
        self.core.config.workdir.is_none().then_some(())?;
        confine::Inventory::take_of(directory, &confine::Bounds::default()).ok()?;
        Some(Watched::new(Top::Open(directory.try_clone().ok()?), Reach::Private))
    }

    /// The container, if it is there.
    fn there(&self) -> io::Result<Arc<Current>> {
        let current = self.lock().clone();
        let current = current.ok_or_else(|| io::Error::other("the session has ended"))?;
        match current.container.wire.loss() {
            Some(loss) => Err(io::Error::other(loss.why)),
            None => Ok(current),
        }
    }

    /// Asks what is known of the directory from here, where something is.
    pub(super) fn watched<T>(&self, ask: impl FnOnce(&Watched) -> T) -> Option<T> {
        self.there().ok()?.watched.as_ref().map(ask)
    }

    /// Asks the supervisor. Blocks.
    pub(super) fn ask(
        &self,
        request: Value,
        upload: Upload,
        pieces: Pieces,
        room: u64,
    ) -> io::Result<(Answered, Pieces)> {
        let wire = Arc::clone(&self.there()?.container.wire);
        let asking = request::ask(wire, request, upload, pieces, room);
        let late =
            || io::Error::new(io::ErrorKind::TimedOut, "the container did not answer in time");
        self.core.worker.wait(FILES, asking).unwrap_or_else(|| Err(late()))
    }

    /// The same where nothing but an answer comes and goes.
    pub(super) fn ask_simply(&self, request: Value) -> io::Result<Answered> {
        Ok(self.ask(request, Upload::None, Pieces::Kept(Vec::new()), 0)?.0)
    }
}

impl Place for DockerPlace {
    fn start(&self, language: Language) -> Result<Started, BackendError> {
        let current = self.held.current()?;
        let Container { wire, shared, confinement, .. } = &current.container;
        let program = std::iter::once(language.program().to_owned());
        let argv: Vec<_> = program.chain(language.arguments(3, 4)).collect();
        let begun = driver::start(wire, shared.as_ref(), &argv);
        let (channels, process, limit) = begun.map_err(|error| {
            BackendError::new(format!("a session's process can't be given its pipes: {error}"))
        })?;
        Ok(Started {
            channels,
            process: Box::new(process),
            confinement: confinement.clone(),
            limit,
        })
    }

    fn files(&self) -> Option<&dyn Files> {
        match &self.private {
            Some((files, _)) => Some(files),
            None => self.given.as_ref().map(|files| files as _),
        }
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        self.private.as_ref().map(|(_, snapshots)| snapshots as _)
    }

    fn changes(&self) -> Option<ChangeReport> {
        self.given.as_ref()?.observed()?.since_first_call()
    }

    fn capacity(&self) -> Option<u64> {
        self.private.is_some().then(|| settings::capacity(&self.held.core.config))
    }

    fn losses(&self) -> u64 {
        if self.private.is_some() { self.held.losses.load(Ordering::SeqCst) } else { 0 }
    }

    fn loss(&self) -> Option<String> {
        let current = self.held.lock().clone()?;
        current.container.wire.loss().filter(|loss| loss.limit.is_none()).map(|loss| loss.why)
    }

    fn close(&self) -> io::Result<()> {
        self.held.is_closed.store(true, Ordering::SeqCst);
        if let Some((_, snapshots)) = &self.private {
            snapshots.clear();
        }
        let Some(current) = self.held.lock().take() else { return Ok(()) };
        let removing = async move { current.container.remove().await };
        let removed = self.held.core.worker.wait(REMOVE, removing);
        let late = || Err("the engine did not answer in time".to_owned());
        removed.unwrap_or_else(late).map_err(io::Error::other)
    }
}
