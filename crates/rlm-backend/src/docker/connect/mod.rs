//! Finding an engine as the `docker` command does, and connecting to it.
//!
//! Goes in: the section of the configuration, with what the environment says. Comes out: a client
//! that an engine has answered, or an error that says what was tried and how to start one. Nothing is
//! read of the environment here, and no engine is used that is not meant: what is named is used or
//! refused.

mod contexts;
mod dial;
mod endpoint;
mod environment;
mod failure;
mod find;
#[cfg(test)]
mod reached;
mod ssh;
mod tls;
mod transport;

use std::{io, sync::Arc, time::Duration};

use bollard::{API_DEFAULT_VERSION, BollardRequest, Docker, models::SystemVersion};
use tokio::time::timeout;

pub use self::environment::EngineEnvironment;
pub(crate) use self::failure::ConnectError;
use self::{
    dial::Dialer,
    endpoint::Endpoint,
    failure::{Failure, Tried},
    find::Candidate,
    transport::Transport,
};
use super::DockerConfig;

/// How long an engine may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same where it is on another machine.
const PATIENCE_AFAR: Duration = Duration::from_secs(20);
/// How long it may take to begin an answer later, in seconds.
const ANSWER_SECS: u64 = 120;
/// The oldest API that has all that is asked for, which Docker 19.03 speaks.
const OLDEST_API: (u32, u32) = (1, 40);

/// An engine that answered.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    /// Its client. It outlives a restart of the engine: each request connects anew where it must.
    pub(crate) docker: Docker,
    /// Where it is and how it was found, in words for an error.
    pub(crate) place: String,
    /// Whether it is on this machine, so that it can mount files of this machine.
    pub(crate) is_local: bool,
    /// What it says of itself.
    pub(crate) version: SystemVersion,
}

impl Engine {
    /// What it calls its own part: that of Docker is `Engine`, that of Podman `Podman Engine`.
    pub(crate) fn component(&self) -> Option<&str> {
        let components = self.version.components.as_ref()?;
        components.first().map(|first| first.name.as_str()).filter(|name| !name.is_empty())
    }

    /// Whether it is Podman, which accepts less of what Docker does.
    pub(crate) fn is_podman(&self) -> bool {
        self.component().is_some_and(|name| name.contains("Podman"))
    }
}

/// Connects to the engine that is meant, and asks it for its version. It has a deadline of its own, a
/// few seconds for each that is tried.
pub(crate) async fn connect(config: &DockerConfig) -> Result<Engine, ConnectError> {
    let config = config.clone();
    let environment = config.environment.clone();
    // Files are read here, perhaps of a slow home.
    let found = tokio::task::spawn_blocking(move || find::candidates(&config)).await;
    let candidates = match found {
        Ok(found) => found.map_err(|error| ConnectError::new(error.to_string()))?,
        Err(error) => return Err(ConnectError::new(error.to_string())),
    };
    let mut tried = Vec::new();
    for candidate in candidates {
        match reach(&candidate, &environment).await {
            Ok(engine) => return Ok(engine),
            Err(failure) => tried.push(Tried { candidate, failure }),
        }
    }
    Err(ConnectError::of(&tried))
}

async fn reach(candidate: &Candidate, environment: &EngineEnvironment) -> Result<Engine, Failure> {
    let endpoint = candidate.endpoint.clone();
    let (is_local, place) = (endpoint.is_local(), endpoint.to_string());
    let docker = client(endpoint, environment).await.map_err(Failure::Dial)?;
    let patience = if is_local { PATIENCE } else { PATIENCE_AFAR };
    let version = match timeout(patience, docker.version()).await {
        Ok(answer) => answer.map_err(Failure::of)?,
        Err(_) => return Err(Failure::Silent(patience)),
    };
    check_version(&version)?;
    let place = format!("{place} ({})", candidate.named_by);
    Ok(Engine { docker, place, is_local, version })
}

async fn client(endpoint: Endpoint, environment: &EngineEnvironment) -> io::Result<Docker> {
    let environment = environment.clone();
    let dialer = tokio::task::spawn_blocking(move || Dialer::new(endpoint, &environment)).await;
    let transport = Transport::new(dialer.map_err(io::Error::other)??);
    let send = move |request: BollardRequest| Arc::clone(&transport).send(request);
    // The host is a name for the client's own use: a transport knows where it leads.
    Docker::connect_with_custom_transport(
        send,
        Some("http://docker"),
        ANSWER_SECS,
        API_DEFAULT_VERSION,
    )
    .map_err(io::Error::other)
}

fn check_version(version: &SystemVersion) -> Result<(), Failure> {
    let said = version.api_version.as_deref().unwrap_or_default();
    let numbers = said.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match numbers {
        Some(numbers) if numbers >= OLDEST_API => Ok(()),
        _ => Err(Failure::TooOld(said.to_owned())),
    }
}
