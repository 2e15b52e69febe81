//! What is wrong with a container that did not come up: said by the name of what is missing.

use std::time::Duration;

use bollard::{
    Docker,
    models::ContainerCreateBody,
    query_parameters::{ContainerArchiveInfoOptionsBuilder, RemoveContainerOptionsBuilder},
};

use super::{
    image::Image,
    wire::{Hello, Wire},
};
use crate::{BackendError, SandboxConfig};

/// Where interpreters are.
const FOLDERS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
/// How long looking into an image may take.
const LOOK: Duration = Duration::from_secs(20);
/// How much of what a container says is repeated.
const MAX_SAID: usize = 1000;

/// A container that the engine could not start.
pub(super) async fn not_started(
    docker: &Docker,
    config: &SandboxConfig,
    image: &Image,
    error: BackendError,
) -> BackendError {
    match missing(docker, image).await {
        missing if missing.is_empty() => error,
        missing => lacks(config, &missing),
    }
}

/// A container that was started, and whose supervisor never spoke.
pub(super) async fn silent(
    docker: &Docker,
    config: &SandboxConfig,
    image: &Image,
    wire: &Wire,
) -> BackendError {
    let missing = missing(docker, image).await;
    if !missing.is_empty() {
        return lacks(config, &missing);
    }
    let name = &config.docker.image;
    let loss = wire.loss().map_or_else(|| "it said nothing in time".to_owned(), |loss| loss.why);
    let stray = wire.stray();
    let said = tool_core::clip(&stray, MAX_SAID);
    BackendError::new(format!("a container of the image {name:?} did not come up: {loss} {said}"))
}

/// A container whose supervisor runs.
pub(super) fn check(config: &SandboxConfig, hello: &Hello) -> Result<(), BackendError> {
    if hello.missing.is_empty() { Ok(()) } else { Err(lacks(config, &hello.missing)) }
}

fn lacks(config: &SandboxConfig, missing: &[String]) -> BackendError {
    let (name, missing) = (&config.docker.image, missing.join(" and no "));
    BackendError::new(format!(
        "the image {name:?} has no {missing}; name one that has python3 (3.9 or later) and bash with \
         [sandbox.docker] image"
    ))
}

/// The interpreters that an image does not have, as far as can be seen.
async fn missing(docker: &Docker, image: &Image) -> Vec<String> {
    tokio::time::timeout(LOOK, look(docker, image)).await.unwrap_or_default()
}

async fn look(docker: &Docker, image: &Image) -> Vec<String> {
    let body = ContainerCreateBody {
        image: Some(image.id.clone()),
        entrypoint: Some(vec!["none".to_owned()]),
        ..ContainerCreateBody::default()
    };
    // It is never started, only looked into.
    let Ok(created) = docker.create_container(None, body).await else { return Vec::new() };
    let mut missing = Vec::new();
    for program in ["python3", "bash"] {
        if !has(docker, &created.id, image, program).await {
            missing.push(program.to_owned());
        }
    }
    let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
    if let Err(error) = docker.remove_container(&created.id, Some(options)).await {
        tracing::warn!("the container {} can't be removed: {error}", created.id);
    }
    missing
}

async fn has(docker: &Docker, id: &str, image: &Image, program: &str) -> bool {
    let path = image.environment.iter().find_map(|variable| variable.strip_prefix("PATH="));
    let named = path.into_iter().flat_map(|path| path.split(':'));
    for folder in named.chain(FOLDERS) {
        let path = format!("{folder}/{program}");
        let options = ContainerArchiveInfoOptionsBuilder::default().path(&path).build();
        if docker.get_container_archive_info(id, Some(options)).await.is_ok() {
            return true;
        }
    }
    false
}
