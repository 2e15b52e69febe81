//! Sessions in containers: the drivers of the local backend, in one container a session.
//!
//! The container is made and started when a place is opened, and removed when it is closed. In it
//! runs a small supervisor, attached by one stream: it starts the drivers, carries what they say,
//! signals them, and reaches the session's files. Where the engine is on this machine, the drivers
//! have pipes of this machine instead, so that a call costs what a local one does.
//!
//! Nothing outlives its owner: a container ends with its stream, and what was made and never attached
//! is found by its label and removed, by any program that starts later on the machine of its owner.

mod config;
mod connect;
mod container;
mod core;
mod diagnosis;
mod driver;
mod files;
mod frames;
mod image;
mod look;
mod meeting;
mod owner;
mod place;
mod reading;
mod reap;
mod report;
mod request;
mod requirements;
mod settings;
mod snapshots;
mod wire;
mod workdir;
mod worker;

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use self::{core::Core, place::DockerPlace};
use crate::{Backend, BackendError, Place, SandboxConfig, Waiting, config::DOCKER};

pub use config::{DockerConfig, PullPolicy};
pub use connect::EngineEnvironment;
pub use look::EngineReport;
pub use reap::Reaped;

/// How long an engine may take to say that it is there.
const PROBE: Duration = Duration::from_secs(60);
/// How long it may take to remove what was left behind.
const REAP: Duration = Duration::from_secs(180);

/// The backend `docker`.
#[derive(Debug)]
pub struct DockerBackend {
    config: SandboxConfig,
    core: OnceLock<Arc<Core>>,
}

impl DockerBackend {
    /// Sessions as the configuration says. Looks at nothing yet.
    #[must_use]
    pub fn new(config: SandboxConfig) -> Self {
        Self { config, core: OnceLock::new() }
    }

    /// Removes the containers of programs that are gone from this machine, and gives what was found.
    /// Others' are left alone. Blocks.
    ///
    /// # Errors
    ///
    /// No engine, or one that does not answer.
    pub fn reap(&self) -> Result<Reaped, BackendError> {
        let core = Arc::clone(self.core()?);
        let reaping = Arc::clone(&core);
        let reaped = core.worker.wait(REAP, async move { reaping.reap().await });
        reaped.unwrap_or_else(|| Err(late()))
    }

    fn core(&self) -> Result<&Arc<Core>, BackendError> {
        if let Some(core) = self.core.get() {
            return Ok(core);
        }
        let core = Core::new(self.config.clone());
        let core = core.map_err(|error| {
            BackendError::new(format!("no thread can wait for a container engine: {error}"))
        })?;
        Ok(self.core.get_or_init(|| Arc::new(core)))
    }
}

fn late() -> BackendError {
    BackendError::new("the container engine did not answer in time")
}

impl Backend for DockerBackend {
    fn name(&self) -> &str {
        DOCKER
    }

    fn probe(&self) -> Result<(), BackendError> {
        let core = Arc::clone(self.core()?);
        let asking = Arc::clone(&core);
        let asked = core.worker.wait(PROBE, async move { asking.engine().await.map(drop) });
        asked.unwrap_or_else(|| Err(late()))
    }

    fn is_prepared(&self) -> bool {
        self.core.get().is_some_and(|core| core.images.known().is_some())
    }

    fn prepare(&self, waiting: &Waiting) -> Result<(), BackendError> {
        let core = Arc::clone(self.core()?);
        let (preparing, told) = (Arc::clone(&core), waiting.clone());
        let work = async move { preparing.prepare(&told).await };
        core.worker.wait(waiting.left(), work).unwrap_or_else(|| {
            Err(match core.images.fetching() {
                None => late(),
                Some(fetching) => BackendError::new(format!(
                    "{fetching}; it takes longer than this call may, and goes on meanwhile: call again \
                     later"
                )),
            })
        })
    }

    fn open(&self) -> Result<Box<dyn Place>, BackendError> {
        self.open_reading(&[])
    }

    fn open_reading(&self, files: &[PathBuf]) -> Result<Box<dyn Place>, BackendError> {
        Ok(Box::new(DockerPlace::open(self.core()?, files)?))
    }
}
