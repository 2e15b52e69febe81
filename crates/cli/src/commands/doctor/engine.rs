//! Which container engine sessions of the backend `docker` would have.

use rlm_backend::{DockerConfig, EngineReport};
use serde::Serialize;

/// What there is.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Engine {
    /// One that answered.
    There(Box<EngineReport>),
    /// None.
    Missing {
        /// What was tried, and how to start one.
        refused: String,
    },
}

/// Asks the one that is meant.
pub(super) async fn look(config: &DockerConfig) -> Engine {
    match EngineReport::of(config).await {
        Ok(report) => Engine::There(Box::new(report)),
        Err(error) => Engine::Missing { refused: error.to_string() },
    }
}

impl Engine {
    /// What a person reads, a line each.
    pub(super) fn in_words(&self) -> Vec<String> {
        let report = match self {
            Self::There(report) => report,
            Self::Missing { refused } => return vec![format!("not available: {refused}")],
        };
        let EngineReport { product, version, api_version, place, .. } = &**report;
        let mut lines = vec![format!("{product} {version} (API {api_version}), {place}")];
        let runtimes = report.runtimes.join(", ");
        lines.push(format!("runtimes: {runtimes}; by default {}", report.default_runtime));
        lines.extend(report.missing_runtime.as_ref().map(|named| {
            format!("to mend: sandbox.docker.runtime names {named}, which it does not have")
        }));
        if !report.not_limited.is_empty() {
            lines.push(format!("it can't limit {}", report.not_limited.join(" and ")));
        }
        lines.push(match report.has_image {
            true => format!("image {}: there", report.image),
            false => format!("image {0}: not there; to fetch it: docker pull {0}", report.image),
        });
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> EngineReport {
        EngineReport {
            place: "unix:///run/docker.sock (DOCKER_HOST)".to_owned(),
            product: "Docker".to_owned(),
            version: "20.10.24".to_owned(),
            api_version: "1.41".to_owned(),
            runtimes: vec!["runc".to_owned(), "runsc".to_owned()],
            default_runtime: "runc".to_owned(),
            missing_runtime: None,
            storage: "overlay2".to_owned(),
            security: Vec::new(),
            not_limited: Vec::new(),
            image: "python:3.12-slim".to_owned(),
            has_image: true,
        }
    }

    #[test]
    fn an_engine_is_told_with_its_runtimes_and_the_image() {
        let lines = Engine::There(Box::new(report())).in_words().join("\n");
        insta::assert_snapshot!(lines);
    }

    #[test]
    fn what_it_lacks_is_told_with_what_to_do() {
        let report = EngineReport {
            missing_runtime: Some("kata".to_owned()),
            not_limited: vec!["memory".to_owned(), "processes".to_owned()],
            has_image: false,
            ..report()
        };
        insta::assert_snapshot!(Engine::There(Box::new(report)).in_words().join("\n"));
    }
}
