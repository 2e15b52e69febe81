//! What all containers of a backend share: the engine, the image, and the thread that waits for both.

use std::{
    collections::BTreeSet,
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bollard::models::SystemInfo;
use tool_core::BoxFuture;

use super::{
    connect::{self, Engine},
    image::{self, Image, Images},
    owner::Owner,
    reading,
    reap::{self, Reaped},
    requirements,
    worker::Worker,
};
use crate::{BackendError, SandboxConfig, Waiting};

/// How often containers that nobody owns are looked for.
const REAP: Duration = Duration::from_secs(60);
/// How long it may take for one request.
const ANSWER: Duration = Duration::from_secs(60);
/// How long an engine may take to list and remove.
const REAPING: Duration = Duration::from_secs(120);

/// The labels of this program's containers that are in use or in the making. Of all its backends, since
/// an owner is a program, and one backend must not take another's containers for left behind.
static LIVE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// What containers share.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) config: SandboxConfig,
    pub(super) owner: Owner,
    pub(super) worker: Worker,
    engine: tokio::sync::Mutex<Option<Engine>>,
    pub(super) images: Images,
    info: tokio::sync::Mutex<Option<SystemInfo>>,
    /// The engine has mounted a directory of this machine, or has not been asked to yet.
    shares: AtomicBool,
    reaps: AtomicBool,
}

impl Core {
    /// Starts the thread, and asks nobody anything.
    pub(super) fn new(config: SandboxConfig) -> io::Result<Self> {
        let shares = AtomicBool::new(config.docker.share_pipes);
        Ok(Self {
            config,
            owner: Owner::this()?,
            worker: Worker::start()?,
            engine: tokio::sync::Mutex::default(),
            images: Images::default(),
            info: tokio::sync::Mutex::default(),
            shares,
            reaps: AtomicBool::new(false),
        })
    }

    /// The engine; found and connected to by the first who asks.
    pub(super) async fn engine(self: &Arc<Self>) -> Result<Engine, BackendError> {
        let mut engine = self.engine.lock().await;
        if let Some(engine) = &*engine {
            return Ok(engine.clone());
        }
        let found = connect::connect(&self.config.docker).await;
        let found = found.map_err(|error| BackendError::new(error.to_string()))?;
        *engine = Some(found.clone());
        if !self.reaps.swap(true, Ordering::SeqCst) {
            self.worker.handle().spawn(reap_for_ever(Arc::downgrade(self)));
        }
        Ok(found)
    }

    /// Connects anew where the engine is asked next: it may be another one by then.
    pub(super) async fn forget_engine(&self) {
        *self.engine.lock().await = None;
        *self.info.lock().await = None;
    }

    /// The image; fetched for the first who asks. Who waits is told how far it has come.
    pub(super) async fn image(
        &self,
        engine: &Engine,
        waiting: Option<&Waiting>,
    ) -> Result<Image, BackendError> {
        let (config, handle) = (&self.config.docker, self.worker.handle());
        self.images.provide(&engine.docker, config, handle, waiting).await
    }

    /// Finds the engine and the image, before they are needed.
    pub(super) async fn prepare(self: &Arc<Self>, waiting: &Waiting) -> Result<(), BackendError> {
        let engine = self.engine().await?;
        let image = self.image(&engine, Some(waiting)).await;
        if image.is_err() {
            self.forget_engine().await;
        }
        image.map(drop)
    }

    /// What the engine says of its machine; asked once.
    pub(super) async fn info(&self, engine: &Engine) -> Result<SystemInfo, BackendError> {
        let mut info = self.info.lock().await;
        if let Some(info) = &*info {
            return Ok(info.clone());
        }
        let asked = tokio::time::timeout(ANSWER, engine.docker.info()).await;
        let late = || BackendError::new("the container engine did not answer in time");
        let asked = asked.map_err(|_| late())?;
        let said = asked.map_err(|error| BackendError::new(image::told(&error)))?;
        let unlimited = requirements::unlimited(&said);
        if !unlimited.is_empty() {
            tracing::warn!("the container engine can't limit {}", unlimited.join(" and "));
        }
        *info = Some(said.clone());
        Ok(said)
    }

    /// Whether the engine can do what is asked of it: `is_given` says that it mounts a directory of
    /// this machine, of which `unguarded` can't be guarded; `reading` are files of this machine.
    pub(super) async fn check(
        self: &Arc<Self>,
        is_given: bool,
        reading: &[PathBuf],
        unguarded: &[String],
    ) -> Result<(), BackendError> {
        let engine = self.engine().await?;
        reading::check(&engine, reading)?;
        if is_given && !engine.is_local {
            return Err(BackendError::new(format!(
                "[sandbox] workdir is a directory of this machine, and the container engine at {} is \
                 on another one; leave workdir out, and put files into sessions with file_put",
                engine.place
            )));
        }
        let info = match self.info(&engine).await {
            Ok(info) => info,
            Err(error) => {
                self.forget_engine().await;
                return Err(error);
            }
        };
        requirements::check(&self.config, &info, unguarded)
    }

    /// Whether the engine can be asked to mount a directory of this machine.
    pub(super) fn shares(&self, engine: &Engine) -> bool {
        engine.is_local && self.shares.load(Ordering::Relaxed)
    }

    /// It can't.
    pub(super) fn shares_nothing(&self) {
        self.shares.store(false, Ordering::Relaxed);
    }

    /// The labels of this program's containers that are in use or in the making.
    pub(super) fn live() -> MutexGuard<'static, BTreeSet<String>> {
        LIVE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes containers that nobody owns.
    pub(super) async fn reap(self: &Arc<Self>) -> Result<Reaped, BackendError> {
        let engine = self.engine().await?;
        let live = || Self::live().clone();
        let reaped = tokio::time::timeout(REAPING, reap::reap(&engine.docker, &self.owner, live));
        let late = || BackendError::new("the engine did not answer in time");
        let reaped = reaped.await.map_err(|_| late())?;
        reaped.map_err(|error| BackendError::new(image::told(&error)))
    }
}

/// Removes what nobody owns at the start and now and then, as long as there is a backend.
fn reap_for_ever(core: Weak<Core>) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        loop {
            let Some(core) = core.upgrade() else { return };
            tell(core.reap().await);
            drop(core);
            tokio::time::sleep(REAP).await;
        }
    })
}

fn tell(reaped: Result<Reaped, BackendError>) {
    match reaped {
        Ok(Reaped { removed, failed, .. }) if !removed.is_empty() || !failed.is_empty() => {
            tracing::info!(?removed, ?failed, "containers that were left behind");
        }
        Ok(_) => {}
        Err(error) => tracing::debug!("containers that were left behind: {error}"),
    }
}
