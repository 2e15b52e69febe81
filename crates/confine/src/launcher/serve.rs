//! The launcher's own process: from its start before `main` to its end.
//!
//! It has one thread, an environment of one name, no descriptor but its socket, its own session
//! (so that no terminal's signal reaches it), and can't be inspected by others of the same user.
//! Between jobs it keeps one process in namespaces that are made already, for the next job of the
//! same kind. No two jobs get the same namespaces. It removes control groups when it has nothing else
//! to do. The kernel reaps its children; the host learns of their end by their own descriptors.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::SocketType;
use rustix::net::sockopt::{socket_peercred, socket_type};
use rustix::process::{DumpableBehavior, Pid, WaitOptions, getppid, set_dumpable_behavior, setsid};
use rustix::thread::set_thread_groups;

use super::leftovers::Leftovers;
use super::{GREETING, Job, REQUEST_BYTES, Request, channel};
use crate::Step;
use crate::cgroup;
use crate::inside::{self, Task};
use crate::plan::{Identity, Status};
use crate::sys::{self, Cloned};
use crate::witness::MountWatch;

/// Whether a descriptor is such a socket as a launcher is started with.
pub(crate) fn is_message_socket(socket: BorrowedFd<'_>) -> bool {
    socket_type(socket).is_ok_and(|kind| kind == SocketType::SEQPACKET)
}

/// Serves until the host is gone.
pub(crate) fn serve(socket: OwnedFd) -> ! {
    if let Some(host) = socket_peercred(&socket).ok().map(|credentials| credentials.pid) {
        // If the host is gone already, somebody else is the parent now.
        let is_here = getppid() == Some(host);
        if is_here && settle().is_ok() && channel::send(socket.as_fd(), GREETING, &[]).is_ok() {
            clean_up_after(host, &Launcher::new(socket).serve());
        }
    }
    sys::exit_now(0)
}

/// Waits for the last child to end, as each does without its host, and removes their groups.
fn clean_up_after(host: Pid, directories: &BTreeSet<PathBuf>) {
    // The kernel reaps: this returns with an error when there is nobody left to wait for.
    while rustix::process::wait(WaitOptions::empty()).is_ok() {}
    cgroup::remove_all_of(host.as_raw_pid().unsigned_abs(), directories);
}

/// Leaves behind what a started program has of the host.
fn settle() -> io::Result<()> {
    sys::close_from(1)?;
    sys::reset_signals()?;
    sys::reap_automatically()?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    // Only the superuser may leave groups; an ordinary user's are what that user is anyway.
    let _ = set_thread_groups(&[]);
    setsid()?;
    Ok(())
}

/// How long the processors are left to what was just started, before the next thing is built.
const BREATH: Duration = Duration::from_millis(5);

/// For how many jobs nobody waits for that, after one was waited for.
const HASTE: u32 = 8;

/// The launcher's state.
struct Launcher {
    socket: OwnedFd,
    spare: Option<Spare>,
    /// The namespaces of the last job, if a spare process for the next one is worth it.
    wanted: Option<u64>,
    leftovers: Leftovers,
    /// Jobs to be done ahead, which can wait.
    ahead: VecDeque<(Job, Vec<OwnedFd>)>,
    /// How many of the next ones can't.
    haste: u32,
    /// Where control groups of the host are.
    directories: BTreeSet<PathBuf>,
}

impl Launcher {
    /// One that has done nothing yet.
    fn new(socket: OwnedFd) -> Self {
        let (leftovers, ahead, directories) = (Leftovers::new(), VecDeque::new(), BTreeSet::new());
        Self { socket, spare: None, wanted: None, leftovers, ahead, haste: 0, directories }
    }

    /// Takes one request after another, until the host is gone; what can wait is done when none has
    /// come for a while. The answer is where the host had control groups.
    fn serve(mut self) -> BTreeSet<PathBuf> {
        loop {
            match self.next_request(self.pause()) {
                Ok(Some((Request::Make(job), descriptors))) if job.is_ahead => {
                    self.ahead.push_back((job, descriptors));
                }
                Ok(Some((Request::Make(job), descriptors))) => self.make(&job, descriptors),
                Ok(Some((Request::Hurry, _))) => self.hurry(),
                Ok(Some((Request::Remove(group), _))) => self.leftovers.add(group),
                Ok(Some((Request::Keep(directory), _))) => {
                    self.directories.insert(directory);
                }
                Ok(None) => self.use_the_time(),
                Err(_) => return self.directories,
            }
        }
    }

    /// How long the launcher may wait for a request before it does something else.
    fn pause(&self) -> Option<Duration> {
        let is_idle = self.wanted.is_none() && self.ahead.is_empty();
        match (is_idle, self.haste) {
            (true, _) => self.leftovers.pause(),
            (false, 0) => Some(BREATH),
            (false, _) => Some(Duration::ZERO),
        }
    }

    /// Makes what waits to be made, and lets nothing wait for a while.
    fn hurry(&mut self) {
        self.haste = HASTE;
        while let Some((job, descriptors)) = self.ahead.pop_front() {
            self.make(&job, descriptors);
        }
    }

    /// Waits for a request, no longer than `timeout`; an error if the host is gone.
    fn next_request(
        &self,
        timeout: Option<Duration>,
    ) -> io::Result<Option<(Request, Vec<OwnedFd>)>> {
        let timeout = timeout.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], timeout.as_ref()) {
            Ok(0) | Err(Errno::INTR) => return Ok(None),
            answer => answer?,
        };
        let mut bytes = [0; REQUEST_BYTES];
        let (length, descriptors) = channel::receive(self.socket.as_fd(), &mut bytes)?;
        let request = postcard::from_bytes(bytes.get(..length).unwrap_or_default());
        Ok(Some((request.map_err(io::Error::other)?, descriptors)))
    }

    /// Makes the process for a job and says so, or why not, on the job's own socket.
    fn make(&mut self, job: &Job, descriptors: Vec<OwnedFd>) {
        let Some(mut task) = Task::new(job.is_ahead, descriptors) else { return };
        let Ok(status) = task.status.try_clone() else { return };
        if job.is_ahead && is_closed(&status) {
            // The host does not want it any more, and has asked for the removal of its groups already.
            return;
        }
        self.directories.extend(job.groups.iter().map(|group| group.parent().to_owned()));
        let answer = make_groups(job).and_then(|doors| {
            task.doors = doors;
            self.make_child(job, task).map_err(|error| (Step::Clone, error))
        });
        if self.wanted == Some(job.namespaces) && !job.is_ahead {
            // The spare process that was put off would have been of use.
            self.haste = HASTE;
        }
        let is_worth_it = job.namespaces & NEW_NETWORK != 0 && self.spare.is_none();
        self.wanted = is_worth_it.then_some(job.namespaces);
        let (message, pidfd) = match &answer {
            Ok(pidfd) => (Status::Made, Some(pidfd.as_fd())),
            Err((step, error)) => {
                let errno = error.raw_os_error().unwrap_or(libc::EIO);
                (Status::Failed { step: *step, errno }, None)
            }
        };
        if let Ok(bytes) = postcard::to_allocvec(&message) {
            // A host that does not want the child any more needs no answer.
            let _ = channel::send(status.as_fd(), &bytes, pidfd.as_slice());
        }
    }

    /// Hands the job to the spare process, or makes one; in that one, this does not return.
    fn make_child(&mut self, job: &Job, task: Task) -> io::Result<OwnedFd> {
        if job.may_be_spare
            && self.spare.as_ref().is_some_and(|spare| spare.namespaces == job.namespaces)
            && let Some(spare) = self.spare.take()
            && spare.mounts.is_unchanged()
            && spare.hand_over(&task).is_ok()
        {
            return Ok(spare.pidfd);
        }
        match sys::clone_with_pidfd(job.namespaces)? {
            Cloned::Parent(pidfd) => Ok(pidfd),
            Cloned::Child => {
                self.let_go();
                inside::run(task)
            }
        }
    }

    /// Makes a spare process for the next job of the last kind, or what was asked for ahead, or removes
    /// groups. Without a spare one, the next job takes longer and is told if something is wrong.
    fn use_the_time(&mut self) {
        if let Some(namespaces) = self.wanted.take() {
            self.haste = self.haste.saturating_sub(1);
            self.spare = self.make_spare(namespaces).ok();
        } else if let Some((job, descriptors)) = self.ahead.pop_front() {
            self.make(&job, descriptors);
        } else {
            self.leftovers.remove();
        }
    }

    /// Makes a process that prepares itself and waits; in it, this does not return.
    fn make_spare(&mut self, namespaces: u64) -> io::Result<Spare> {
        let (identity, mounts) = (Identity::own(), MountWatch::new()?);
        let (jobs, theirs) = channel::pair()?;
        match sys::clone_with_pidfd(namespaces)? {
            Cloned::Parent(pidfd) => Ok(Spare { namespaces, mounts, jobs, pidfd }),
            Cloned::Child => {
                drop((jobs, mounts));
                self.let_go();
                inside::wait_and_run(&theirs, identity)
            }
        }
    }

    /// Closes, in a child, what is the launcher's alone.
    fn let_go(&mut self) {
        self.spare = None;
        self.ahead.clear();
        // The number is not used again: a child never comes back to the launcher's loop.
        let _ = sys::close_number(self.socket.as_raw_fd());
    }
}

/// Whether the other end of a socket is closed.
fn is_closed(socket: &OwnedFd) -> bool {
    let now = Timespec::default();
    poll(&mut [PollFd::new(socket, PollFlags::empty())], Some(&now)) != Ok(0)
}

/// Makes the groups of a job, and opens them.
fn make_groups(job: &Job) -> Result<Vec<OwnedFd>, (Step, io::Error)> {
    let doors: io::Result<_> = job.groups.iter().map(|group| group.open(&job.name)).collect();
    doors.map_err(|error| (Step::JoinCgroups, error))
}

/// The bit of a new network namespace, the one that takes longest to make.
const NEW_NETWORK: u64 = libc::CLONE_NEWNET as u64;

/// A process in new namespaces that waits for its job.
struct Spare {
    namespaces: u64,
    /// Its namespace knows of what was mounted when this was made.
    mounts: MountWatch,
    jobs: OwnedFd,
    pidfd: OwnedFd,
}

impl Spare {
    /// Gives it its job.
    fn hand_over(&self, task: &Task) -> io::Result<()> {
        channel::send(self.jobs.as_fd(), &[u8::from(task.is_ahead)], &task.descriptors())
    }
}
