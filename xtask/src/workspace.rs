//! The workspace as cargo sees it: packages and what each asks for.
//!
//! Read from `cargo metadata --format-version 1`; only the fields that chores judge by.

use std::{collections::BTreeSet, path::PathBuf};

use serde::Deserialize;

use crate::{error::Error, process::Program};

/// Members, and with [`Depth::Everything`] every package that the lock file names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    /// The packages of this repository, by name.
    pub(crate) members: Vec<Package>,
    /// The packages from outside, on every platform.
    pub(crate) external: Vec<Package>,
}

/// How much to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The members alone; needs no registry.
    Members,
    /// All packages; fails where the lock file is not current. Their sources must be fetched.
    Everything,
}

/// One package.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Package {
    /// Its name for cargo, unique in the lock file.
    #[serde(default)]
    pub(crate) id: String,
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    #[serde(default)]
    pub(crate) version: String,
    /// Its licence expression, where it states one.
    #[serde(default)]
    pub(crate) license: Option<String>,
    /// The oldest compiler it promises to build with.
    #[serde(default)]
    pub(crate) rust_version: Option<String>,
    /// Where its manifest is.
    #[serde(default)]
    pub(crate) manifest_path: PathBuf,
    /// What it asks for.
    #[serde(default)]
    pub(crate) dependencies: Vec<Dependency>,
}

/// One dependency of a package.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Dependency {
    /// The package asked for.
    pub(crate) name: String,
    /// What for.
    #[serde(default, deserialize_with = "kind")]
    pub(crate) kind: Kind,
    /// The features asked for by name.
    #[serde(default)]
    pub(crate) features: Vec<String>,
    /// Whether the default features are on.
    #[serde(default)]
    pub(crate) uses_default_features: bool,
}

/// What a dependency is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The program itself.
    #[default]
    Normal,
    /// Its build script.
    Build,
    /// Its tests.
    Dev,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn read(depth: Depth) -> Result<Self, Error> {
        let depth = match depth {
            Depth::Members => "--no-deps",
            Depth::Everything => "--locked",
        };
        let args = ["metadata", "--format-version", "1", depth];
        Self::parse(&Program::new("cargo").args(args).output()?)
    }

    fn parse(json: &str) -> Result<Self, Error> {
        let metadata: Metadata = serde_json::from_str(json)
            .map_err(|error| Error::failed(format!("cargo metadata: {error}")))?;
        let is_member = |package: &Package| metadata.workspace_members.contains(&package.id);
        let (members, external) = metadata.packages.into_iter().partition(is_member);
        Ok(Self { members, external })
    }
}

fn kind<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
    match Option::<String>::deserialize(deserializer)?.as_deref() {
        None | Some("normal") => Ok(Kind::Normal),
        Some("build") => Ok(Kind::Build),
        Some("dev") => Ok(Kind::Dev),
        Some(other) => Err(serde::de::Error::custom(format!("a dependency of kind {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_the_rest_are_told_apart() {
        let json = r#"{
            "packages": [
                {"id": "a 1", "name": "a", "version": "1.0.0", "license": "MIT",
                 "rust_version": null, "manifest_path": "/x/Cargo.toml", "dependencies": [
                    {"name": "b", "kind": null, "features": ["f"], "uses_default_features": true},
                    {"name": "c", "kind": "dev"}, {"name": "d", "kind": "build"}]},
                {"id": "b 2", "name": "b", "version": "2.0.0", "license": null}
            ],
            "workspace_members": ["a 1"]
        }"#;
        let workspace = Workspace::parse(json).unwrap();
        assert_eq!(workspace.external[0].name, "b");
        let kinds: Vec<_> = workspace.members[0].dependencies.iter().map(|d| d.kind).collect();
        assert_eq!(kinds, [Kind::Normal, Kind::Dev, Kind::Build]);
        assert_eq!(workspace.members[0].dependencies[0].features, ["f"]);
    }

    #[test]
    fn what_cargo_does_not_say_today_is_an_error() {
        assert!(Workspace::parse("[]").is_err());
        let json = r#"{"packages": [{"name": "a", "dependencies": [{"name": "b", "kind": "new"}]}],
                       "workspace_members": []}"#;
        assert!(Workspace::parse(json).unwrap_err().to_string().contains("new"));
    }

    #[test]
    fn this_workspace_is_read() {
        let workspace = Workspace::read(Depth::Members).unwrap();
        assert!(workspace.members.iter().any(|package| package.name == "xtask"));
        assert!(workspace.external.is_empty());
    }
}
