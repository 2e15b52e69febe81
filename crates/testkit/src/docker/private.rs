//! An engine of a test's own, which may be stopped, killed and started again.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use super::skip;

/// A `dockerd` that ends, with all its containers and data, when this is dropped.
#[derive(Debug)]
pub struct PrivateEngine {
    folder: PathBuf,
    options: Vec<String>,
}

impl PrivateEngine {
    /// Starts one with these options of `dockerd`; it has no images yet. Where none can be had, says so
    /// on standard error.
    ///
    /// # Panics
    ///
    /// It can't be started, or is not installed and a test may not be skipped.
    #[must_use]
    pub fn start(options: &[&str]) -> Option<Self> {
        if !is_superuser() {
            // Not a skip that could be helped: as the superuser it runs.
            say("only the superuser can start an engine");
            return None;
        }
        if !["/usr/sbin/dockerd", "/usr/bin/dockerd"].iter().any(|path| Path::new(path).exists()) {
            skip("dockerd is not installed; Debian's package docker.io brings it");
            return None;
        }
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // A short path: sockets below it have names of 108 bytes at most.
        let folder = std::env::temp_dir().join(format!("re{}-{number}", std::process::id()));
        let options = options.iter().map(|&option| option.to_owned()).collect();
        let engine = Self { folder, options };
        engine.manage("start");
        Some(engine)
    }

    /// Its address on this machine.
    #[must_use]
    pub fn host(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    /// Its socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join("docker.sock")
    }

    /// The names of its containers, whatever they do.
    ///
    /// # Panics
    ///
    /// It does not answer.
    #[must_use]
    pub fn containers(&self) -> Vec<String> {
        let containers = super::ask::containers(&self.socket());
        assert!(containers.is_ok(), "{containers:?}");
        containers.unwrap_or_default().into_iter().map(|container| container.name).collect()
    }

    /// Builds images for tests in it, by their tags.
    ///
    /// # Panics
    ///
    /// They can't be built.
    pub fn build_images(&self, tags: &[&str]) {
        let mut script = script("docker_test_image.sh");
        succeeds(script.args(tags).env("DOCKER_HOST", self.host()), "the images");
    }

    /// Ends `dockerd` as a crash would.
    ///
    /// # Panics
    ///
    /// It can't be ended.
    pub fn kill(&self) {
        self.manage("kill");
    }

    /// Starts it again after a crash, on the same data.
    ///
    /// # Panics
    ///
    /// It can't be started.
    pub fn resume(&self) {
        self.manage("resume");
    }

    fn manage(&self, what: &str) {
        let mut command = script("docker_engine.sh");
        command.arg(what).arg(&self.folder);
        if what != "kill" {
            command.args(&self.options);
        }
        succeeds(&mut command, what);
    }
}

impl Drop for PrivateEngine {
    fn drop(&mut self) {
        let stopped = run(script("docker_engine.sh").arg("stop").arg(&self.folder));
        if let Err(error) = stopped {
            say(&format!("the engine in {} was not stopped: {error}", self.folder.display()));
        }
    }
}

/// A script of the workspace.
#[expect(clippy::disallowed_methods, reason = "tests start developer tools; nothing confined")]
fn script(name: &str) -> Command {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
    let mut command = Command::new("bash");
    command.arg(scripts.join(name)).stdin(Stdio::null());
    command
}

/// The files of an image, as one archive: those of a container that never runs.
pub(super) fn exported(host: &str, image: &str) -> io::Result<Vec<u8>> {
    let made = output(docker(host).args(["create", "--network", "none", image, "true"]))?;
    let id = String::from_utf8_lossy(&made).trim().to_owned();
    let files = output(docker(host).args(["export", &id]));
    output(docker(host).args(["rm", "--force", &id]))?;
    files
}

#[expect(clippy::disallowed_methods, reason = "tests start developer tools; nothing confined")]
fn docker(host: &str) -> Command {
    let mut command = Command::new("docker");
    command.args(["--host", host]).stdin(Stdio::null());
    command
}

fn run(command: &mut Command) -> io::Result<()> {
    output(command).map(drop)
}

fn output(command: &mut Command) -> io::Result<Vec<u8>> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}

fn succeeds(command: &mut Command, what: &str) {
    let ran = run(command);
    assert!(ran.is_ok(), "{what}: {ran:?}");
}

#[expect(clippy::print_stderr, reason = "a test tells its reader what it does not do")]
fn say(what: &str) {
    eprintln!("{what}");
}

/// Whether this process is the superuser's.
fn is_superuser() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}
