//! Contexts of the `docker` command: named engines, in files below its folder.
//!
//! `config.json` names the one in use; `contexts/meta/ID/meta.json` says where its engine is, and
//! `contexts/tls/ID/docker/` holds the material for TLS. The id is the SHA-256 of the name. Source: the
//! packages `cli/context/store` and `cli/command` of github.com/docker/cli.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::endpoint::{AddressError, Endpoint, TlsFiles};

/// The context that stands for "no context".
pub(super) const DEFAULT: &str = "default";
/// More than a file of these has.
const MAX_BYTES: u64 = 1 << 20;

/// Why a context can't be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ContextError {
    #[error(
        "there is no context {name:?}: {path} can't be read: {source}; docker context ls lists those that there are"
    )]
    Missing { name: String, path: String, source: io::Error },
    #[error("{path} is not what the docker command writes: {source}")]
    Malformed { path: String, source: serde_json::Error },
    #[error("{path} can't be read: {source}")]
    Unreadable { path: String, source: io::Error },
    #[error("the context {name:?} names no Docker engine")]
    NoEngine { name: String },
    #[error(
        "the context {name:?} skips the check of the engine's certificate, which this program never does; \
         make it anew with ca=…, cert=… and key=…"
    )]
    Unverified { name: String },
    #[error("the context {name:?}: {source}")]
    Address { name: String, source: AddressError },
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ConfigFile {
    #[serde(rename = "currentContext")]
    current_context: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Meta {
    #[serde(default)]
    endpoints: Endpoints,
}

#[derive(Debug, Default, Deserialize)]
struct Endpoints {
    docker: Option<DockerEndpoint>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DockerEndpoint {
    #[serde(default)]
    host: String,
    #[serde(default, rename = "SkipTLSVerify")]
    skip_tls_verify: bool,
}

/// The context that `config.json` says is in use, where there is one.
pub(super) fn current(folder: &Path) -> Result<Option<String>, ContextError> {
    let path = folder.join("config.json");
    let text = match read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ContextError::Unreadable { path: shown(&path), source }),
    };
    let config: ConfigFile = serde_json::from_str(&text)
        .map_err(|source| ContextError::Malformed { path: shown(&path), source })?;
    Ok(Some(config.current_context).filter(|name| !name.is_empty() && name != DEFAULT))
}

/// The engine of a context.
pub(super) fn endpoint(folder: &Path, name: &str) -> Result<Endpoint, ContextError> {
    let id = id(name);
    let path = folder.join("contexts/meta").join(&id).join("meta.json");
    let text = read(&path).map_err(|source| ContextError::Missing {
        name: name.to_owned(),
        path: shown(&path),
        source,
    })?;
    let meta: Meta = serde_json::from_str(&text)
        .map_err(|source| ContextError::Malformed { path: shown(&path), source })?;
    let engine = meta.endpoints.docker.filter(|engine| !engine.host.is_empty());
    let engine = engine.ok_or_else(|| ContextError::NoEngine { name: name.to_owned() })?;
    let tls = tls_files(&folder.join("contexts/tls").join(&id).join("docker"));
    let endpoint = Endpoint::parse(&engine.host, tls)
        .map_err(|source| ContextError::Address { name: name.to_owned(), source })?;
    if engine.skip_tls_verify && matches!(endpoint, Endpoint::Tcp { .. }) {
        return Err(ContextError::Unverified { name: name.to_owned() });
    }
    Ok(endpoint)
}

/// The material of a folder; none where it has none.
fn tls_files(folder: &Path) -> Option<TlsFiles> {
    let there = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
    let files = TlsFiles { ca: there("ca.pem"), identity: identity(folder) };
    (files.ca.is_some() || files.identity.is_some()).then_some(files)
}

/// A certificate and its key, where a folder has both.
pub(super) fn identity(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let there = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
    there("cert.pem").zip(there("key.pem"))
}

/// The name of a context's folder.
pub(super) fn id(name: &str) -> String {
    Sha256::digest(name.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(path: &Path) -> io::Result<String> {
    if fs::metadata(path)?.len() > MAX_BYTES {
        return Err(io::Error::other("it is too large"));
    }
    fs::read_to_string(path)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str, meta: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let meta_folder = folder.path().join("contexts/meta").join(id(name));
        fs::create_dir_all(&meta_folder).unwrap();
        fs::write(meta_folder.join("meta.json"), meta).unwrap();
        folder
    }

    #[test]
    fn the_id_is_the_hash_that_the_docker_command_uses() {
        // As `docker context create desktop-linux` names its folder.
        assert_eq!(
            id("desktop-linux"),
            "fe9c6bd7a66301f49ca9b6a70b217107cd1284598bfc254700c989b916da791e"
        );
    }

    #[test]
    fn the_context_in_use_is_the_one_of_the_settings() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(current(folder.path()).unwrap(), None);
        for (text, expected) in [
            (r#"{"auths": {}, "currentContext": "far"}"#, Some("far")),
            (r#"{"currentContext": "default"}"#, None),
            (r#"{"auths": {}}"#, None),
        ] {
            fs::write(folder.path().join("config.json"), text).unwrap();
            assert_eq!(current(folder.path()).unwrap().as_deref(), expected, "{text}");
        }
        fs::write(folder.path().join("config.json"), "{").unwrap();
        let error = current(folder.path()).unwrap_err().to_string();
        assert!(error.contains("config.json is not what the docker command writes"), "{error}");
    }

    #[test]
    fn a_context_says_where_its_engine_is() {
        let meta = r#"{"Name":"far","Metadata":{},"Endpoints":{"docker":{"Host":"tcp://far:2376","SkipTLSVerify":false}}}"#;
        let folder = folder("far", meta);
        let plain = endpoint(folder.path(), "far").unwrap();
        assert_eq!(plain.to_string(), "tcp://far:2376");
        let material = folder.path().join("contexts/tls").join(id("far")).join("docker");
        fs::create_dir_all(&material).unwrap();
        for name in ["ca.pem", "cert.pem", "key.pem"] {
            fs::write(material.join(name), "").unwrap();
        }
        let Endpoint::Tcp { tls: Some(tls), .. } = endpoint(folder.path(), "far").unwrap() else {
            panic!("no TLS")
        };
        assert_eq!(tls.ca, Some(material.join("ca.pem")));
        assert_eq!(tls.identity, Some((material.join("cert.pem"), material.join("key.pem"))));
    }

    #[test]
    fn a_context_that_can_not_be_used_is_told_with_what_to_do() {
        let check = |meta: &str, expected: &str| {
            let error = endpoint(folder("far", meta).path(), "far").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("{", "not what the docker command writes");
        check(r#"{"Endpoints":{}}"#, "names no Docker engine");
        check(r#"{"Endpoints":{"docker":{"Host":"npipe:////x"}}}"#, "begin with unix://");
        check(
            r#"{"Endpoints":{"docker":{"Host":"tcp://far:2376","SkipTLSVerify":true}}}"#,
            "never does",
        );
        let none = tempfile::tempdir().unwrap();
        let error = endpoint(none.path(), "far").unwrap_err().to_string();
        assert!(error.contains("there is no context \"far\""), "{error}");
        assert!(error.contains("docker context ls"), "{error}");
    }
}
