//! The host's side: one launcher for the process, started at the first job and again if it died.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};

use super::{GREETING, MARK, REQUEST_BYTES, channel};
use crate::plan::Job;
use crate::sys;

/// How long a launcher that was started may take to say so.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The one launcher of this process.
static LAUNCHER: Mutex<Option<Launcher>> = Mutex::new(None);

/// Why a job could not be handed over.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    /// The launcher can't be started or spoken to.
    #[error("the launcher is not available: {0}")]
    Launcher(#[from] io::Error),
    /// The launcher could not make the process.
    #[error("the kernel refused a process in new namespaces: {0}")]
    Clone(io::Error),
}

/// What kind of process a job needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// The `CLONE_NEW…` bits.
    pub(crate) namespaces: u64,
    /// Whether it may be one that was made before, and may not know of the newest mounts.
    pub(crate) may_be_spare: bool,
}

impl Request {
    /// As it travels.
    fn bytes(self) -> [u8; REQUEST_BYTES] {
        let mut bytes = [u8::from(self.may_be_spare); REQUEST_BYTES];
        bytes[1..].copy_from_slice(&self.namespaces.to_ne_bytes());
        bytes
    }
}

/// Has a process made for a job; its descriptor comes back before the process has done anything.
///
/// `descriptors` are what [`crate::plan`] says, without the
/// job itself.
pub(crate) fn launch(
    request: Request,
    job: &Job,
    descriptors: &[BorrowedFd<'_>],
) -> Result<OwnedFd, LaunchError> {
    let file = write_job(job)?;
    let all: Vec<_> = [file.as_fd()].into_iter().chain(descriptors.iter().copied()).collect();
    let mut slot = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(launcher) = slot.as_ref().filter(|launcher| launcher.is_ours()) {
        match launcher.ask(request, &all) {
            Err(LaunchError::Launcher(_)) => {}
            answer => return answer,
        }
    }
    let fresh = slot.insert(Launcher::start()?);
    fresh.ask(request, &all)
}

/// Writes the job into a memory file, which has no limit on its length as a message has.
fn write_job(job: &Job) -> io::Result<OwnedFd> {
    let bytes = postcard::to_allocvec(job).map_err(io::Error::other)?;
    let descriptor = memfd_create(c"job", MemfdFlags::CLOEXEC)?;
    let mut file = std::fs::File::from(descriptor);
    file.write_all(&bytes)?;
    Ok(file.into())
}

/// A running launcher.
struct Launcher {
    socket: OwnedFd,
    process: Child,
    owner: u32,
}

impl Launcher {
    /// Starts one, and waits until it says that it is one.
    fn start() -> io::Result<Self> {
        let (socket, theirs) = channel::pair()?;
        // Nothing here makes the standard library fork: no hook, no other user, no directory.
        let process = command()
            .arg0("confine-launcher")
            .env_clear()
            .env(MARK.to_string_lossy().as_ref(), "1")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let launcher = Self { socket, process, owner: std::process::id() };
        launcher.await_greeting()?;
        Ok(launcher)
    }

    /// Whether this process started it (a copy of the process made by `fork` did not).
    fn is_ours(&self) -> bool {
        self.owner == std::process::id()
    }

    /// Waits for the first message.
    fn await_greeting(&self) -> io::Result<()> {
        let timeout = Timespec::try_from(START_TIMEOUT).map_err(io::Error::other)?;
        let mut waiting = [PollFd::new(&self.socket, PollFlags::IN)];
        let ready = poll(&mut waiting, Some(&timeout))?;
        let mut bytes = [0; GREETING.len()];
        let answered = ready > 0 && {
            let (length, _) = channel::receive(self.socket.as_fd(), &mut bytes)?;
            bytes.get(..length) == Some(GREETING)
        };
        if answered {
            return Ok(());
        }
        Err(io::Error::other("this program's executable does not start as a launcher"))
    }

    /// Sends one job and waits for the answer.
    fn ask(
        &self,
        request: Request,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<OwnedFd, LaunchError> {
        channel::send(self.socket.as_fd(), &request.bytes(), descriptors)?;
        let mut bytes = [0; size_of::<i32>()];
        let (length, received) = channel::receive(self.socket.as_fd(), &mut bytes)?;
        if length != bytes.len() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        match (i32::from_ne_bytes(bytes), received.into_iter().next()) {
            (0, Some(pidfd)) => Ok(pidfd),
            (0, None) => Err(io::Error::from(io::ErrorKind::InvalidData).into()),
            (errno, _) => Err(LaunchError::Clone(io::Error::from_raw_os_error(errno))),
        }
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        if self.is_ours() {
            // It may have ended already; either way it is reaped here.
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

/// The command that starts this program's own executable.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the door; it starts its launcher here"
)]
fn command() -> Command {
    // Naming the entry keeps it in the executable.
    let _ = std::hint::black_box(&sys::ENTRY);
    Command::new("/proc/self/exe")
}
