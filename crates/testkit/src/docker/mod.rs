//! Container engines for tests: the one that the machine offers, and private ones that may be harmed.
//!
//! Tests that need an engine ask [`engine`]. Where there is none they print why and return; they fail
//! instead where `REMIT_REQUIRE_DOCKER` or `REMIT_TEST_NO_SKIP` is set. Tests that restart or kill an
//! engine, or start it with options, make a [`PrivateEngine`], for which dockerd has to be installed and
//! the superuser has to run them: `_as_root` ends their names.

mod ask;
mod private;
mod registry;

use std::{collections::BTreeMap, path::PathBuf, sync::OnceLock};

pub use private::PrivateEngine;
pub use registry::{Layer, Registry};

/// Where an engine listens that nothing names.
const USUAL: &str = "/var/run/docker.sock";
/// The image that `scripts/docker_test_image.sh` builds: Python, bash and the usual small programs.
pub const IMAGE: &str = "remit-test:latest";

/// A container, as its engine tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
}

/// An engine that answers and has the images for tests.
#[derive(Debug, Clone)]
pub struct TestEngine {
    socket: PathBuf,
}

impl TestEngine {
    /// Its address.
    #[must_use]
    pub fn host(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    /// The names of its containers, whatever they do.
    ///
    /// # Panics
    ///
    /// It does not answer any more.
    #[must_use]
    pub fn containers(&self) -> Vec<String> {
        self.labelled().into_iter().map(|container| container.name).collect()
    }

    /// Its containers with their labels, whatever they do.
    ///
    /// # Panics
    ///
    /// It does not answer any more.
    #[must_use]
    pub fn labelled(&self) -> Vec<Container> {
        let containers = ask::containers(&self.socket);
        assert!(containers.is_ok(), "{containers:?}");
        containers.unwrap_or_default()
    }

    /// The files of an image, as one archive.
    ///
    /// # Panics
    ///
    /// It can't be had with the `docker` command.
    #[must_use]
    pub fn files_of(&self, image: &str) -> Vec<u8> {
        let files = private::exported(&self.host(), image);
        assert!(files.is_ok(), "{files:?}");
        files.unwrap_or_default()
    }

    /// Deletes an image; one that is not there is none to delete.
    ///
    /// # Panics
    ///
    /// The engine does not do it.
    pub fn remove_image(&self, image: &str) {
        let removed = ask::remove_image(&self.socket, image);
        assert!(removed.is_ok(), "{removed:?}");
    }

    /// Ends and removes a container.
    ///
    /// # Panics
    ///
    /// The engine does not do it.
    pub fn remove(&self, name: &str) {
        let removed = ask::remove(&self.socket, name);
        assert!(removed.is_ok(), "{removed:?}");
    }

    /// Whether it has an image.
    #[must_use]
    pub fn has_image(&self, name: &str) -> bool {
        ask::has_image(&self.socket, name).is_ok_and(|has| has)
    }
}

/// The engine of the machine, asked once in a process. Where there is none, says so on standard error.
///
/// # Panics
///
/// Where there is none and a test may not be skipped.
#[must_use]
pub fn engine() -> Option<&'static TestEngine> {
    static FOUND: OnceLock<Result<TestEngine, String>> = OnceLock::new();
    match FOUND.get_or_init(find) {
        Ok(engine) => Some(engine),
        Err(why) => {
            skip(why);
            None
        }
    }
}

/// An image that not every machine can have.
///
/// # Panics
///
/// Where it is not there and a test may not be skipped.
#[must_use]
pub fn engine_with(image: &str) -> Option<&'static TestEngine> {
    let engine = engine()?;
    if engine.has_image(image) {
        return Some(engine);
    }
    skip(&format!("the engine has no image {image}; scripts/docker_test_image.sh builds it"));
    None
}

fn find() -> Result<TestEngine, String> {
    let host = variable("DOCKER_HOST");
    let socket = match host.as_deref() {
        None | Some("") => USUAL,
        Some(host) => host.strip_prefix("unix://").ok_or_else(|| {
            format!("DOCKER_HOST is {host}, and these tests mount folders: they need a unix socket")
        })?,
    };
    let socket = PathBuf::from(socket);
    match ask::has_image(&socket, IMAGE) {
        Ok(true) => Ok(TestEngine { socket }),
        Ok(false) => Err(format!(
            "the engine on {} has no image {IMAGE}; scripts/docker_test_image.sh builds it",
            socket.display()
        )),
        Err(error) => Err(format!("no container engine answers on {}: {error}", socket.display())),
    }
}

/// Says that something is not tested.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn skip(why: &str) {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty() && value != "0");
    let is_required = is_set("REMIT_REQUIRE_DOCKER") || is_set("REMIT_TEST_NO_SKIP");
    assert!(!is_required, "nothing may be skipped, but {why}");
    eprintln!("SKIPPED: {why}");
}

#[expect(clippy::disallowed_methods, reason = "tests are told by their environment what to use")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
