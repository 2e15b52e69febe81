//! This process as a host of confined sessions: one session, and what the process has of the machine.
#![allow(dead_code, reason = "each program of this folder uses a part of it")]

use std::{fs, sync::Arc, time::Duration};

use rlm_backend::{
    Backend, CallOutcome, DriverLink, Language, LinkConfig, LocalBackend, NoHostCalls, Place,
    SandboxConfig,
};
use tokio::time::Instant;

/// One confined session.
pub(crate) struct Session {
    link: DriverLink,
    place: Box<dyn Place>,
}

impl Session {
    pub(crate) async fn start(language: Language) -> Self {
        let place = LocalBackend::new(SandboxConfig::default()).open().unwrap();
        let started = place.start(language).unwrap();
        let (calls, config) = (Arc::new(NoHostCalls), LinkConfig::default());
        let soon = Instant::now() + Duration::from_secs(30);
        let (channels, process) = (started.channels, started.process);
        let link = DriverLink::start(language, channels, process, calls, config, soon);
        Self { link: link.await.unwrap(), place }
    }

    /// Runs code that may take an hour.
    pub(crate) async fn run(&mut self, code: &str) -> CallOutcome {
        let deadline = Instant::now() + Duration::from_secs(3600);
        self.link.run(code, deadline, std::future::pending()).await.unwrap()
    }

    pub(crate) fn end(self) {
        drop(self.link);
        self.place.close().unwrap();
    }
}

/// The number after a flag of the command line.
pub(crate) fn number_after(flag: &str) -> Option<u64> {
    let words: Vec<_> = std::env::args().collect();
    let at = words.iter().position(|word| word == flag)?;
    Some(words[at + 1].parse().unwrap())
}

/// How much memory of this process is resident, in bytes.
pub(crate) fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// How many descriptors this process has open.
pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}
