//! The image of sessions: there, or fetched as the configuration says.

use std::time::{Duration, Instant};

use bollard::{
    Docker,
    errors::Error,
    models::{CreateImageInfo, ImageInspect},
    query_parameters::CreateImageOptionsBuilder,
};
use futures_util::StreamExt as _;

use super::{DockerConfig, PullPolicy};
use crate::BackendError;

/// How often the progress of a fetch is told.
const TOLD: Duration = Duration::from_secs(2);

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

/// The image that a configuration names, once the engine has it.
pub(super) async fn provide(docker: &Docker, config: &DockerConfig) -> Result<Image, BackendError> {
    let name = &config.image;
    if config.pull == PullPolicy::Always {
        fetch(docker, name).await?;
    }
    match docker.inspect_image(name).await {
        Ok(found) => return Ok(Image::of(found, name)),
        Err(error) if !is_missing(&error) => return Err(refused(name, &error)),
        Err(_) if config.pull == PullPolicy::Never => {
            return Err(BackendError::new(format!(
                "the engine has no image {name:?}, and [sandbox.docker] pull = \"never\" says that \
                 none is fetched; fetch it with `docker pull {name}`, or set pull to \"missing\""
            )));
        }
        Err(_) => {}
    }
    fetch(docker, name).await?;
    let found = docker.inspect_image(name).await.map_err(|error| refused(name, &error))?;
    Ok(Image::of(found, name))
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

/// Whether an engine's answer is that there is no such thing.
pub(super) fn is_missing(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { status_code: 404, .. })
}

/// What an engine says, or how it can't be reached.
pub(super) fn told(error: &Error) -> String {
    match error {
        Error::DockerResponseServerError { message, .. } => message.trim().to_owned(),
        Error::DockerStreamError { error } => error.trim().to_owned(),
        error => error.to_string(),
    }
}

fn refused(name: &str, error: &Error) -> BackendError {
    BackendError::new(format!("the image {name:?} can't be had: {}", told(error)))
}

/// Fetches an image, and tells how far it has come.
async fn fetch(docker: &Docker, name: &str) -> Result<(), BackendError> {
    tracing::info!("fetching the image {name}");
    // Without a tag every tag of a name would be fetched.
    let options = CreateImageOptionsBuilder::default().from_image(&tagged(name)).build();
    let mut steps = std::pin::pin!(docker.create_image(Some(options), None, None));
    let mut last = Instant::now();
    while let Some(step) = steps.next().await {
        let step = step.map_err(|error| refused(name, &error))?;
        if let Some(message) = step.error_detail.as_ref().and_then(|it| it.message.as_ref()) {
            let message = message.trim();
            return Err(BackendError::new(format!("the image {name:?} can't be had: {message}")));
        }
        if last.elapsed() >= TOLD {
            last = Instant::now();
            tracing::info!("fetching the image {name}: {}", described(&step));
        }
    }
    tracing::info!("the image {name} is there");
    Ok(())
}

/// A step of a fetch in words.
fn described(step: &CreateImageInfo) -> String {
    let status = step.status.as_deref().unwrap_or_default();
    let layer = step.id.as_deref().unwrap_or_default();
    let detail = step.progress_detail.as_ref();
    match detail.and_then(|detail| Some((detail.current?, detail.total?))) {
        Some((current, total)) => format!("{layer} {status}, {current} of {total} bytes"),
        None => format!("{layer} {status}"),
    }
}

/// A name with its tag, where it has neither one nor a digest.
fn tagged(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.contains(':') || name.contains('@') {
        name.to_owned()
    } else {
        format!("{name}:latest")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_without_tag_and_digest_gets_one() {
        for (name, whole) in [
            ("python", "python:latest"),
            ("python:3.12-slim", "python:3.12-slim"),
            ("registry:5000/python", "registry:5000/python:latest"),
            ("registry:5000/python:3", "registry:5000/python:3"),
            ("python@sha256:00", "python@sha256:00"),
        ] {
            assert_eq!(tagged(name), whole);
        }
    }
}
