//! Which engine is meant: the configuration, the environment, the context in use, or what listens here.
//!
//! The order of the `docker` command: what is named is used, and nothing else is tried in its place.
//! Where nothing names an engine, the sockets that engines listen on by default are tried in turn:
//! Docker's, a rootless Docker's, and Podman's.

use std::path::PathBuf;

use super::{
    contexts::{self, ContextError},
    endpoint::{AddressError, Endpoint, TlsFiles},
    environment::{EngineEnvironment, set},
};
use crate::DockerConfig;

/// An engine that may be the one, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) endpoint: Endpoint,
    pub(super) named_by: String,
}

/// Why it can't be said which engine is meant.
#[derive(Debug, thiserror::Error)]
pub(super) enum FindError {
    #[error("sandbox.docker.host and sandbox.docker.context both name an engine; set one of them")]
    Both,
    #[error("{named_by}: {source}")]
    Address { named_by: String, source: AddressError },
    #[error("{named_by}: {source}")]
    Context { named_by: String, source: ContextError },
    #[error(
        "{named_by} names the context {name:?}, and there is no folder of settings: set HOME or DOCKER_CONFIG"
    )]
    NoFolder { named_by: String, name: String },
    #[error(
        "DOCKER_TLS_VERIFY wants TLS, and there is no folder of certificates: set DOCKER_CERT_PATH"
    )]
    NoCertificates,
}

/// The engines to try, in their order: one where one is named.
pub(super) fn candidates(config: &DockerConfig) -> Result<Vec<Candidate>, FindError> {
    let environment = &config.environment;
    let (host, context) = (set(&config.host), set(&config.context));
    if host.is_some() && context.is_some() {
        return Err(FindError::Both);
    }
    if let Some(host) = host {
        return named(host, "sandbox.docker.host", environment);
    }
    if let Some(context) = context {
        return of_context(context, "sandbox.docker.context", environment);
    }
    if let Some(host) = set(&environment.docker_host) {
        return named(host, "DOCKER_HOST", environment);
    }
    if let Some(context) = set(&environment.docker_context) {
        return of_context(context, "DOCKER_CONTEXT", environment);
    }
    let by = "the context in use";
    if let Some(folder) = environment.config_folder() {
        let current = contexts::current(&folder)
            .map_err(|source| FindError::Context { named_by: by.to_owned(), source })?;
        if let Some(context) = current {
            return of_context(&context, by, environment);
        }
    }
    usual(environment)
}

fn named(
    text: &str,
    by: &str,
    environment: &EngineEnvironment,
) -> Result<Vec<Candidate>, FindError> {
    let (named_by, tls) = (by.to_owned(), tls(environment)?);
    match Endpoint::parse(text, tls) {
        Ok(endpoint) => Ok(vec![Candidate { endpoint, named_by }]),
        Err(source) => Err(FindError::Address { named_by, source }),
    }
}

/// The material for TLS that the environment names. The certificate is left out where there is none.
fn tls(environment: &EngineEnvironment) -> Result<Option<TlsFiles>, FindError> {
    if set(&environment.docker_tls_verify).is_none() {
        return Ok(None);
    }
    let folder = environment.tls_folder().ok_or(FindError::NoCertificates)?;
    let identity = contexts::identity(&folder);
    Ok(Some(TlsFiles { ca: Some(folder.join("ca.pem")), identity }))
}

fn of_context(
    name: &str,
    by: &str,
    environment: &EngineEnvironment,
) -> Result<Vec<Candidate>, FindError> {
    if name == contexts::DEFAULT {
        return usual(environment);
    }
    let named_by = by.to_owned();
    let Some(folder) = environment.config_folder() else {
        return Err(FindError::NoFolder { named_by, name: name.to_owned() });
    };
    match contexts::endpoint(&folder, name) {
        Ok(endpoint) => {
            Ok(vec![Candidate { endpoint, named_by: format!("{by}, context {name:?}") }])
        }
        Err(source) => Err(FindError::Context { named_by, source }),
    }
}

/// Where engines listen that nobody names.
fn usual(environment: &EngineEnvironment) -> Result<Vec<Candidate>, FindError> {
    let by_default = |path: PathBuf| Candidate {
        endpoint: Endpoint::Unix(path),
        named_by: "by default".to_owned(),
    };
    let mut candidates = vec![by_default("/var/run/docker.sock".into())];
    candidates.extend(environment.runtime_file("docker.sock").map(by_default));
    if let Some(host) = set(&environment.container_host) {
        candidates.extend(named(host, "CONTAINER_HOST", environment)?);
    } else {
        candidates.extend(environment.runtime_file("podman/podman.sock").map(by_default));
        candidates.push(by_default("/run/podman/podman.sock".into()));
    }
    Ok(candidates)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn found(config: &DockerConfig) -> Vec<String> {
        let candidates = candidates(config).unwrap().into_iter();
        candidates.map(|it| format!("{} ({})", it.endpoint, it.named_by)).collect()
    }

    fn config(fill: impl FnOnce(&mut DockerConfig)) -> DockerConfig {
        let mut config = DockerConfig::default();
        fill(&mut config);
        config
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    /// A folder with a context "far" in use.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let meta = folder.path().join("contexts/meta").join(contexts::id("far"));
        fs::create_dir_all(&meta).unwrap();
        let text = r#"{"Name":"far","Endpoints":{"docker":{"Host":"unix:///far.sock"}}}"#;
        fs::write(meta.join("meta.json"), text).unwrap();
        fs::write(folder.path().join("config.json"), r#"{"currentContext":"far"}"#).unwrap();
        folder
    }

    #[test]
    fn what_is_named_first_is_the_only_one_that_is_tried() {
        let folder = folder();
        let mut all = config(|it| {
            it.host = some("unix:///1.sock");
            it.environment.docker_host = some("tcp://2");
            it.environment.docker_context = some("far");
            it.environment.docker_config = Some(folder.path().to_string_lossy().into_owned());
        });
        assert_eq!(found(&all), ["unix:///1.sock (sandbox.docker.host)"]);
        all.host = None;
        assert_eq!(found(&all), ["tcp://2:2375 (DOCKER_HOST)"]);
        all.environment.docker_host = some("");
        assert_eq!(found(&all), ["unix:///far.sock (DOCKER_CONTEXT, context \"far\")"]);
        all.environment.docker_context = None;
        assert_eq!(found(&all), ["unix:///far.sock (the context in use, context \"far\")"]);
        all.environment.docker_context = some("default");
        assert_eq!(found(&all)[0], "unix:///var/run/docker.sock (by default)");
    }

    #[test]
    fn where_nothing_is_named_the_usual_sockets_are_tried_in_turn() {
        let config = config(|it| it.environment.xdg_runtime_dir = some("/run/user/7"));
        let expected = [
            "unix:///var/run/docker.sock (by default)",
            "unix:///run/user/7/docker.sock (by default)",
            "unix:///run/user/7/podman/podman.sock (by default)",
            "unix:///run/podman/podman.sock (by default)",
        ];
        assert_eq!(found(&config), expected);
        let podman = self::config(|it| it.environment.container_host = some("unix:///p.sock"));
        assert_eq!(
            found(&podman),
            ["unix:///var/run/docker.sock (by default)", "unix:///p.sock (CONTAINER_HOST)"]
        );
    }

    #[test]
    fn tls_is_the_environments_for_what_the_environment_or_the_section_names() {
        let config = config(|it| {
            it.environment.docker_host = some("tcp://far");
            it.environment.docker_tls_verify = some("1");
            it.environment.home = some("/home/me");
        });
        let Endpoint::Tcp { port, tls: Some(tls), .. } =
            candidates(&config).unwrap().remove(0).endpoint
        else {
            panic!("no TLS")
        };
        assert_eq!((port, tls.ca), (2376, Some("/home/me/.docker/ca.pem".into())));
        assert_eq!(tls.identity, None, "there is none in that folder");
    }

    #[test]
    fn what_can_not_be_meant_is_told() {
        let check = |config: &DockerConfig, expected: &str| {
            let error = candidates(config).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        let both = config(|it| (it.host, it.context) = (some("unix:///a"), some("b")));
        check(&both, "both name an engine");
        check(&config(|it| it.context = some("far")), "set HOME or DOCKER_CONFIG");
        check(&config(|it| it.environment.docker_host = some("fd://")), "DOCKER_HOST: \"fd://\"");
        let tls = config(|it| {
            it.environment.docker_host = some("tcp://far");
            it.environment.docker_tls_verify = some("1");
        });
        check(&tls, "set DOCKER_CERT_PATH");
    }
}
