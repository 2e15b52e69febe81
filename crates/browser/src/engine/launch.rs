//! Starting Chromium, confined.
//!
//! What the kernel enforces: the child has a network of its own in which nothing listens but the proxy
//! of this session, a root of its own with the system's programs read-only, and a memory file system in
//! which the profile lies, so that nothing of it is ever on a disk and all of it ends with the last
//! process. Its processes end with the handle, and with the host, however that ends. Namespaces are
//! required: where there are none, there is no engine.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use confine::{
    Capture, Child, Command, Confinement, Limits, Mechanism, PrepareError, Prepared, Protection,
    SpawnError, Stream,
};
use serde_json::Value;
use tokio::sync::mpsc;

use super::arguments::{self, PROXY_PORT};
use super::cdp::{Cdp, Event};
use super::{Program, Settings};

/// How much is kept of what Chromium writes to standard error.
const KEPT_BYTES: usize = 4096;

/// A directory that every machine has; the child starts in it, and may not write to it.
const START: &str = "/usr";

/// Why Chromium can't be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// This machine can't confine it as it has to be.
    #[error("the browser can't be confined: {0}")]
    Confine(#[from] PrepareError),
    /// The launch failed.
    #[error("the browser can't be started: {0}")]
    Spawn(#[from] SpawnError),
    /// A pipe or a socket can't be had.
    #[error("the browser can't be spoken to: {0}")]
    Channel(#[from] io::Error),
}

/// A running Chromium.
#[derive(Debug)]
pub(super) struct Running {
    /// There until it is ended.
    child: Option<Child>,
    said: Option<Capture>,
    /// What is enforced, as a result carries it.
    pub(super) confinement: Arc<Value>,
}

/// What is needed to work with one.
pub(super) struct Launched {
    pub(super) running: Running,
    pub(super) cdp: Cdp,
    pub(super) events: mpsc::Receiver<Event>,
    /// Where it connects to instead of the network.
    pub(super) listener: TcpListener,
}

/// Decides how browsers are confined, once for all that will be started.
pub(super) fn prepare(program: &Program, settings: &Settings) -> Result<Prepared, LaunchError> {
    let mut limits = Limits::default();
    limits.memory = Some(settings.memory.0);
    limits.processes = Some(1024);
    limits.open_files = Some(4096);
    limits.tmp_size = settings.memory.0 / 2;
    limits.wall_clock = Some(settings.life_time + Duration::from_secs(60));
    let mut asked = Confinement::builder(START)
        .read_only_workdir()
        .protection(Protection::none())
        .limits(limits)
        .require(Mechanism::Namespaces)
        .require(Mechanism::NetworkNamespace)
        .require(Mechanism::NoNewPrivileges)
        .require(Mechanism::Capabilities)
        .env("DBUS_SESSION_BUS_ADDRESS", "disabled:");
    if let Some(directory) = program.directory_to_show() {
        asked = asked.readable(directory);
    }
    Ok(asked.prepare()?)
}

/// Starts one. Must be called within a runtime; blocks for some milliseconds.
pub(super) fn launch(
    program: &Program,
    settings: &Settings,
    prepared: &Prepared,
) -> Result<Launched, LaunchError> {
    let (for_browser, to_browser) = io::pipe()?;
    let (from_browser, of_browser) = io::pipe()?;
    let agent = settings.user_agent.as_deref();
    let command = Command::new(program.path())
        .args(arguments::all(settings.width, settings.height, agent))
        .directory("/tmp")
        .stdout(Stream::Null)
        .inherit(for_browser.into())
        .inherit(of_browser.into())
        .listener(PROXY_PORT);
    let mut child = prepared.spawn(command)?;
    let said = child.take_stderr().map(|stderr| Capture::start(stderr, KEPT_BYTES)).transpose()?;
    let listener = child.take_listener().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    let confinement = serde_json::to_value(child.report()).map_err(io::Error::other)?;
    let (cdp, events) = Cdp::start(from_browser, to_browser)?;
    let running = Running { child: Some(child), said, confinement: Arc::new(confinement) };
    Ok(Launched { running, cdp, events, listener })
}

impl Running {
    /// Ends it, and gives the last lines that it wrote: why it could not start, where it did not. Blocks
    /// for a moment.
    pub(super) fn end(mut self) -> String {
        drop(self.child.take());
        // Every process that could write is gone, so this ends.
        let said = self.said.take().and_then(|said| said.finish().ok());
        let text = said.map(|said| said.text().to_string()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().filter(|line| !line.contains("dbus/")).collect();
        lines.iter().rev().take(3).rev().copied().collect::<Vec<_>>().join(" / ")
    }

    /// The number of its first process; nothing once that is gone.
    pub(super) fn pid(&self) -> Option<u32> {
        self.child.as_ref()?.pid()
    }
}

impl Drop for Running {
    /// Kills every process at once. That the last one is gone is waited for elsewhere.
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        child.kill();
        // Where no thread can be had, the closure is dropped here, and the child with it.
        let _ = std::thread::Builder::new().name("browser-end".to_owned()).spawn(|| drop(child));
    }
}
