//! `[sandbox.docker]`: what an operator can set of containers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EngineEnvironment;

/// The image where none is named: Debian with Python and bash, and little else.
const IMAGE: &str = "docker.io/library/python:3.12-slim";

/// `[sandbox.docker]`: containers, where the backend is `docker`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DockerConfig {
    /// The engine: `unix://`, `tcp://` or `ssh://`. Where absent, the one that the `docker` command
    /// would use.
    pub host: Option<String>,
    /// A context of the `docker` command that names the engine, in place of `host`.
    pub context: Option<String>,
    /// The image, by name or by digest. It needs `python3` (3.9 or later) and `bash` (5 or later).
    pub image: String,
    /// When the image is fetched.
    pub pull: PullPolicy,
    /// The engine's runtime, for example `runsc` or `kata`; its default one where absent.
    pub runtime: Option<String>,
    /// The most open files of a process.
    pub open_files: u64,
    /// The size of `/tmp`, in bytes.
    pub tmp_bytes: u64,
    /// Whether an engine on this machine lets a container's drivers use pipes of this machine, which is
    /// faster than the engine's own stream.
    pub share_pipes: bool,
    /// What the environment of this program says of the engine; not a part of a configuration file.
    #[serde(skip)]
    pub environment: EngineEnvironment,
}

impl Default for DockerConfig {
    fn default() -> Self {
        Self {
            host: None,
            context: None,
            image: IMAGE.to_owned(),
            pull: PullPolicy::default(),
            runtime: None,
            open_files: 1024,
            tmp_bytes: 64 << 20,
            share_pipes: true,
            environment: EngineEnvironment::default(),
        }
    }
}

/// When an image is fetched from its registry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PullPolicy {
    /// Where the engine does not have it.
    #[default]
    Missing,
    /// Never: it is there, or sessions are refused.
    Never,
    /// Once in each run of this program, before the first session.
    Always,
}
