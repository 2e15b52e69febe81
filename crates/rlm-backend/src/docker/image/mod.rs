//! The image of sessions: there, or fetched as the configuration says.
//!
//! All who want it wait for one fetch, and a fetch goes on where nobody waits any more: whoever asks
//! next finds it, or is told once why it failed.

mod fetch;
mod steps;
mod told;

use std::sync::{Mutex, MutexGuard, PoisonError};

use bollard::{Docker, errors::Error, models::ImageInspect};
use tokio::runtime::Handle;

use self::fetch::Fetch;
use super::{DockerConfig, PullPolicy};
use crate::{BackendError, Waiting};

pub(super) use told::{is_missing, told};

/// What a container needs to know of its image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Image {
    /// What the engine has it under.
    pub(super) id: String,
    /// The variables that it sets, as `NAME=value`.
    pub(super) environment: Vec<String>,
    /// The directories that it wants volumes for.
    pub(super) volumes: Vec<String>,
}

/// The image of a backend, and the fetch of it.
#[derive(Debug, Default)]
pub(super) struct Images {
    inner: Mutex<Inner>,
    /// One looks at a time, so that a fetch is begun once.
    looking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Inner {
    known: Option<Image>,
    /// One that runs, or whose end nobody has heard of.
    fetch: Option<Fetch>,
}

/// What a look for the image finds.
enum Found {
    Image(Image),
    Fetch(Fetch),
}

impl Images {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The image, where the engine was seen to have it.
    pub(super) fn known(&self) -> Option<Image> {
        self.lock().known.clone()
    }

    /// Looks for it anew where it is asked for next.
    pub(super) fn forget(&self) {
        self.lock().known = None;
    }

    /// What is fetched now, in words, where something is.
    pub(super) fn fetching(&self) -> Option<String> {
        let inner = self.lock();
        inner.fetch.as_ref().filter(|fetch| fetch.ended().is_none()).map(Fetch::describe)
    }

    /// The image that a configuration names, once the engine has it. A fetch runs on that event loop.
    pub(super) async fn provide(
        &self,
        docker: &Docker,
        config: &DockerConfig,
        handle: &Handle,
        waiting: Option<&Waiting>,
    ) -> Result<Image, BackendError> {
        let fetch = match self.look(docker, config, handle).await? {
            Found::Image(image) => return Ok(image),
            Found::Fetch(fetch) => fetch,
        };
        let ended = fetch.follow(waiting).await;
        let _one_at_a_time = self.looking.lock().await;
        self.heard_of(&fetch);
        ended.map_err(|why| refused(&config.image, &why))?;
        if let Some(image) = self.known() {
            return Ok(image);
        }
        let found = self.inspect(docker, &config.image).await;
        found.map_err(|error| refused(&config.image, &told(&error)))
    }

    /// Finds the image or the fetch of it, and begins one where there is neither.
    async fn look(
        &self,
        docker: &Docker,
        config: &DockerConfig,
        handle: &Handle,
    ) -> Result<Found, BackendError> {
        let _one_at_a_time = self.looking.lock().await;
        let name = &config.image;
        if let Some(image) = self.known() {
            return Ok(Found::Image(image));
        }
        let earlier = self.lock().fetch.clone();
        let ended = earlier.as_ref().and_then(Fetch::ended);
        if let (Some(fetch), None) = (&earlier, &ended) {
            return Ok(Found::Fetch(fetch.clone()));
        }
        self.lock().fetch = None;
        let is_fetched = ended.is_some();
        ended.unwrap_or(Ok(())).map_err(|why| refused(name, &why))?;
        if config.pull != PullPolicy::Always || is_fetched {
            match self.inspect(docker, name).await {
                Ok(image) => return Ok(Found::Image(image)),
                Err(error) if !is_missing(&error) => return Err(refused(name, &told(&error))),
                Err(_) if config.pull == PullPolicy::Never => return Err(never(name)),
                Err(_) => {}
            }
        }
        let fetch = Fetch::start(docker.clone(), name, handle);
        self.lock().fetch = Some(fetch.clone());
        Ok(Found::Fetch(fetch))
    }

    /// Asks the engine for the image, and remembers it.
    async fn inspect(&self, docker: &Docker, name: &str) -> Result<Image, Error> {
        let image = Image::of(docker.inspect_image(name).await?, name);
        self.lock().known = Some(image.clone());
        Ok(image)
    }

    /// Somebody knows how a fetch ended.
    fn heard_of(&self, fetch: &Fetch) {
        let mut inner = self.lock();
        if inner.fetch.as_ref().is_some_and(|last| last.is(fetch)) {
            inner.fetch = None;
        }
    }
}

impl Image {
    fn of(found: ImageInspect, name: &str) -> Self {
        let config = found.config.unwrap_or_default();
        Self {
            id: found.id.unwrap_or_else(|| name.to_owned()),
            environment: config.env.unwrap_or_default(),
            volumes: config.volumes.unwrap_or_default(),
        }
    }
}

fn refused(name: &str, why: &str) -> BackendError {
    BackendError::new(format!("the image {name:?} can't be had: {why}"))
}

fn never(name: &str) -> BackendError {
    BackendError::new(format!(
        "the engine has no image {name:?}, and [sandbox.docker] pull = \"never\" says that none is \
         fetched; fetch it with `docker pull {name}`, or set pull to \"missing\""
    ))
}
