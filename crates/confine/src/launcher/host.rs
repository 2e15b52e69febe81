//! The host's side: one launcher for the process, started at the first job and again if it died.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use super::{GREETING, Job, MARK, REQUEST_BYTES, Request, channel};
use crate::sys;

/// How long a launcher that was started may take to say so.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The one launcher of this process.
static LAUNCHER: Mutex<Option<Launcher>> = Mutex::new(None);

/// Has a process made for a job. The descriptors are the plan and the child's ends of its two sockets;
/// all answers come on the status socket, whose end says that the launcher is gone.
pub(crate) fn ask(job: Job, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    request(&Request::Make(job), descriptors)
}

/// Has a directory cleared of this process's control groups when this process is gone.
pub(crate) fn keep_clear(directory: &Path) -> io::Result<()> {
    request(&Request::Keep(directory.to_owned()), &[])
}

/// Sends a request, to a new launcher if there is none.
fn request(request: &Request, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let request = bytes(request)?;
    let mut slot = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(launcher) = slot.as_ref().filter(|launcher| launcher.is_ours())
        && channel::send(launcher.socket.as_fd(), &request, descriptors).is_ok()
    {
        return Ok(());
    }
    let fresh = slot.insert(Launcher::start()?);
    channel::send(fresh.socket.as_fd(), &request, descriptors)
}

/// Has a control group removed when it is empty; whether there is a launcher that does it.
pub(crate) fn remove_group(directory: &Path) -> bool {
    tell(&Request::Remove(directory.to_owned()))
}

/// Says that what is built ahead is waited for.
pub(crate) fn hurry() {
    // Without a launcher nothing is built, and the wait ends by itself.
    tell(&Request::Hurry);
}

/// Sends a request to the launcher, if there is one.
fn tell(request: &Request) -> bool {
    let Ok(request) = bytes(request) else { return false };
    let slot = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    slot.as_ref()
        .filter(|launcher| launcher.is_ours())
        .is_some_and(|launcher| channel::send(launcher.socket.as_fd(), &request, &[]).is_ok())
}

/// A request as it travels.
fn bytes(request: &Request) -> io::Result<Vec<u8>> {
    let bytes = postcard::to_allocvec(request).map_err(io::Error::other)?;
    if bytes.len() > REQUEST_BYTES {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(bytes)
}

/// A memory file with this content, which nobody can change any more.
pub(crate) fn memory_file(content: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create(c"plan", flags)?);
    file.write_all(content)?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
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
