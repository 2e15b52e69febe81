//! The `docker` command, as the peer.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use testkit::docker::{IMAGE, TestEngine};

/// The command on one engine.
pub(crate) struct Docker {
    host: String,
}

impl Docker {
    pub(crate) fn new(engine: &TestEngine) -> Self {
        Self { host: engine.host() }
    }

    #[expect(clippy::disallowed_methods, reason = "the peer of a benchmark")]
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("docker");
        command.args(["--host", &self.host]).args(args).stdin(Stdio::null());
        command
    }

    /// How long a command takes.
    fn time(&self, args: &[&str]) -> Duration {
        let begun = Instant::now();
        let output = self.command(args).output().unwrap();
        let time = begun.elapsed();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        time
    }

    /// A fresh container that runs a program.
    pub(crate) fn run(&self, program: &[&str]) -> Duration {
        self.time(&[&["run", "--rm", "--network=none", IMAGE], program].concat())
    }

    /// A container that stays until it is dropped.
    pub(crate) fn stay(&self) -> Staying<'_> {
        let args = ["run", "-d", "--rm", "--init", "--network=none", IMAGE, "sleep", "3600"];
        let output = self.command(&args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Staying { docker: self, id }
    }
}

/// A container to execute programs in.
pub(crate) struct Staying<'a> {
    docker: &'a Docker,
    id: String,
}

impl Staying<'_> {
    /// A program in it.
    pub(crate) fn exec(&self, program: &str) -> Duration {
        self.docker.time(&["exec", &self.id, program])
    }
}

impl Drop for Staying<'_> {
    fn drop(&mut self) {
        // The engine of a benchmark may be gone by then.
        let _ = self.docker.command(&["rm", "--force", &self.id]).output();
    }
}
