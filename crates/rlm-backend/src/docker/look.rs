//! What there is of an engine, for a person who wants to know before a session needs it.
//!
//! Nothing is made, started or fetched.

use std::time::Duration;

use bollard::models::SystemInfo;
use serde::Serialize;
use tokio::time::timeout;

use super::{
    DockerConfig,
    connect::{Engine, connect},
    image::{is_missing, told},
    requirements,
};
use crate::BackendError;

/// How long an engine may take to answer.
const ANSWER: Duration = Duration::from_secs(20);

/// An engine that answered, and whether it has what sessions need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EngineReport {
    /// Where it is, and how it was found.
    pub place: String,
    /// What it calls itself.
    pub product: String,
    /// Its version.
    pub version: String,
    /// The version of its API.
    pub api_version: String,
    /// Its runtimes, sorted.
    pub runtimes: Vec<String>,
    /// The one of them that is used where none is named.
    pub default_runtime: String,
    /// The runtime that the configuration names, where the engine does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_runtime: Option<String>,
    /// How it stores images.
    pub storage: String,
    /// What it says of its security.
    pub security: Vec<String>,
    /// Limits that it says it can't keep.
    pub not_limited: Vec<String>,
    /// The image that the configuration names.
    pub image: String,
    /// Whether it has that image.
    pub has_image: bool,
}

impl EngineReport {
    /// Looks at the engine that the configuration means.
    ///
    /// # Errors
    ///
    /// No engine, told with what was tried; or one that does not answer.
    pub async fn of(config: &DockerConfig) -> Result<Self, BackendError> {
        let engine = connect(config).await;
        let engine = engine.map_err(|error| BackendError::new(error.to_string()))?;
        let looked = timeout(ANSWER, look(&engine, config)).await;
        let late = || BackendError::new("the container engine did not answer in time");
        let (info, has_image) = looked.map_err(|_| late())??;
        Ok(Self::from_parts(engine, &info, config, has_image))
    }

    fn from_parts(
        engine: Engine,
        info: &SystemInfo,
        config: &DockerConfig,
        has_image: bool,
    ) -> Self {
        let mut runtimes: Vec<_> =
            info.runtimes.iter().flat_map(|all| all.keys().cloned()).collect();
        runtimes.sort_unstable();
        let named = config.runtime.clone();
        let or_unknown =
            |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
        Self {
            product: product(&engine),
            place: engine.place,
            version: or_unknown(&engine.version.version),
            api_version: or_unknown(&engine.version.api_version),
            missing_runtime: named.filter(|named| !runtimes.contains(named)),
            runtimes,
            default_runtime: or_unknown(&info.default_runtime),
            storage: or_unknown(&info.driver),
            security: info.security_options.clone().unwrap_or_default(),
            not_limited: requirements::unlimited(info).into_iter().map(str::to_owned).collect(),
            image: config.image.clone(),
            has_image,
        }
    }
}

async fn look(engine: &Engine, config: &DockerConfig) -> Result<(SystemInfo, bool), BackendError> {
    let info = engine.docker.info().await.map_err(|error| BackendError::new(told(&error)))?;
    match engine.docker.inspect_image(&config.image).await {
        Ok(_) => Ok((info, true)),
        Err(error) if is_missing(&error) => Ok((info, false)),
        Err(error) => Err(BackendError::new(told(&error))),
    }
}

/// What the product is called that the engine is of.
fn product(engine: &Engine) -> String {
    match engine.component() {
        None | Some("Engine") => "Docker".to_owned(),
        Some(other) => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_an_engine_is_and_has_is_told() {
        let Some(engine) = testkit::docker::engine() else { return };
        let config = |image: &str| DockerConfig {
            host: Some(engine.host()),
            image: image.to_owned(),
            runtime: Some("no-such-runtime".to_owned()),
            ..DockerConfig::default()
        };
        let report = EngineReport::of(&config(testkit::docker::IMAGE)).await.unwrap();
        assert!(report.has_image && report.runtimes.contains(&"runc".to_owned()), "{report:?}");
        assert!(report.version.starts_with(|c: char| c.is_ascii_digit()), "{report:?}");
        assert!(report.security.iter().any(|option| option.contains("seccomp")), "{report:?}");
        assert_eq!(report.missing_runtime.as_deref(), Some("no-such-runtime"));
        let without = EngineReport::of(&config("remit-test:no-such-tag")).await.unwrap();
        assert!(!without.has_image);
    }
}
