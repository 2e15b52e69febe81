//! What a child's first process does: confine itself, start the program, watch it, end.
//!
//! It is a copy of the launcher, in new namespaces if the plan has them, and the first process of
//! its process-id namespace: when it ends, the kernel ends every process in there. It carries out
//! the plan in a fixed order and answers the first step that fails on the status socket.
//!
//! - [`identity`], [`root`], [`guards`]: the namespaces' insides.
//! - [`bubblewrap`](mod@bubblewrap): namespaces that another program makes.
//! - [`payload`]: the process that becomes the program.
//! - [`privileges`], [`restrict`]: what it gives up and how it is restricted.
//! - [`init`]: watching until the end.

mod bubblewrap;
mod guards;
mod identity;
mod init;
mod payload;
mod privileges;
mod restrict;
mod root;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::{AddressFamily, SocketType, socket};
use rustix::process::{Signal, set_parent_process_death_signal};

use self::payload::Payload;
use crate::Step;
use crate::launcher;
use crate::plan::{Identity, Namespaces, Plan, Status};
use crate::sys;
use crate::witness::Witness;

pub(crate) use self::bubblewrap::{MARK as STAGE_MARK, run_as_stage};

/// The host name in a new namespace.
const HOST_NAME: &[u8] = b"sandbox";

/// A step that failed.
struct Failure {
    step: Step,
    errno: i32,
}

/// Gives an error its step.
trait During<T> {
    /// Says during which step it happened.
    fn during(self, step: Step) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> During<T> for Result<T, E> {
    fn during(self, step: Step) -> Result<T, Failure> {
        self.map_err(|error| Failure {
            step,
            errno: error.into().raw_os_error().unwrap_or(libc::EIO),
        })
    }
}

/// A job as its first process gets it: the plan, this side of its two sockets, and its groups.
pub(crate) struct Task {
    /// Whether the host has to know what the view depends on.
    pub(crate) is_ahead: bool,
    plan: OwnedFd,
    pub(crate) status: OwnedFd,
    orders: OwnedFd,
    /// What is written to, to join the control groups.
    pub(crate) doors: Vec<OwnedFd>,
}

impl Task {
    /// Names the descriptors; nothing if one is missing.
    pub(crate) fn new(is_ahead: bool, descriptors: Vec<OwnedFd>) -> Option<Self> {
        let mut descriptors = descriptors.into_iter();
        let mut next = || descriptors.next();
        let (plan, status, orders) = (next()?, next()?, next()?);
        Some(Self { is_ahead, plan, status, orders, doors: descriptors.collect() })
    }

    /// The descriptors in the order in which they travel.
    pub(crate) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let first = [&self.plan, &self.status, &self.orders];
        first.into_iter().chain(&self.doors).map(AsFd::as_fd).collect()
    }
}

/// Carries out a job in a process that was just made for it.
pub(crate) fn run(task: Task) -> ! {
    if bind_to_launcher().is_ok() {
        carry_out(task, None);
    }
    sys::exit_now(1)
}

/// Prepares what is the same for every job, waits for one on `jobs`, and carries it out.
///
/// The process was made in all the new namespaces there are. If preparing fails, the job that comes
/// hears of it; if none comes because the launcher is gone, this ends.
pub(crate) fn wait_and_run(jobs: &OwnedFd, identity: Identity) -> ! {
    if bind_to_launcher().is_ok() {
        let ahead = Ahead::make(identity, true);
        let task = next_task(jobs);
        let number = jobs.as_raw_fd();
        if let Some(task) = task
            && sys::close_number(number).is_ok()
        {
            carry_out(task, Some(ahead));
        }
    }
    sys::exit_now(1)
}

/// Waits for a job.
fn next_task(jobs: &OwnedFd) -> Option<Task> {
    let mut byte = [0];
    let (_, descriptors) = launcher::receive(jobs.as_fd(), &mut byte).ok()?;
    Task::new(byte == [1], descriptors)
}

/// The first way to end with the launcher; the status socket, closed by the host, is another.
fn bind_to_launcher() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Confines, starts, watches; answers on the status socket.
fn carry_out(task: Task, ahead: Option<Result<Ahead, Failure>>) {
    let Task { is_ahead, plan, status, orders, doors } = task;
    let outcome = read_plan(plan).during(Step::ReadJob).and_then(|plan| {
        join(doors).during(Step::JoinCgroups)?;
        if let Some(namespaces) = &plan.namespaces
            && let Some(program) = &namespaces.bubblewrap
        {
            let sockets = (&status, &orders);
            return Err(bubblewrap::become_bubblewrap(&plan, namespaces, program, sockets));
        }
        let witness = confine(&plan, is_ahead, ahead)?;
        init::start_and_watch(&plan, Payload { orders, status: &status, witness })
    });
    finish(&status, outcome);
}

/// The last word.
fn finish(status: &OwnedFd, outcome: Result<Status, Failure>) {
    let last = outcome.unwrap_or_else(|Failure { step, errno }| Status::Failed { step, errno });
    tell(status.as_fd(), &last);
}

/// Reads a plan from its memory file.
fn read_plan(file: OwnedFd) -> io::Result<Plan> {
    let bytes = launcher::read_whole(&File::from(file))?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

/// Joins the control groups.
fn join(doors: Vec<OwnedFd>) -> io::Result<()> {
    doors.iter().try_for_each(|door| rustix::io::write(door, b"0").map(drop))?;
    Ok(())
}

/// Everything that init and the program share. The answer is what the view depends on, if the host
/// has to know.
fn confine(
    plan: &Plan,
    is_ahead: bool,
    ahead: Option<Result<Ahead, Failure>>,
) -> Result<Option<Witness>, Failure> {
    let Some(namespaces) = &plan.namespaces else {
        // Its end would leave its descendants alive: it ends with the host, and ends them first.
        set_parent_process_death_signal(None).during(Step::Fork)?;
        return Ok(None);
    };
    let Namespaces { identity, network, root, .. } = namespaces;
    let ahead = ahead.unwrap_or_else(|| Ahead::make(*identity, *network))?;
    if ahead.identity != *identity {
        return Err(Failure { step: Step::MapIdentity, errno: libc::EPERM });
    }
    let witness = if is_ahead { Witness::take(plan) } else { None };
    root::enter(root, ahead.made)?;
    Ok(witness)
}

/// New namespaces, filled with what is the same for every job.
struct Ahead {
    identity: Identity,
    made: root::Made,
}

impl Ahead {
    /// Fills the namespaces that this process is in.
    fn make(identity: Identity, network: bool) -> Result<Self, Failure> {
        identity::map(identity).during(Step::MapIdentity)?;
        rustix::system::sethostname(HOST_NAME).during(Step::Network)?;
        if network {
            bring_up_network().during(Step::Network)?;
        }
        Ok(Self { identity, made: root::Made::make()? })
    }
}

/// Makes the new network namespace's loopback interface usable.
fn bring_up_network() -> io::Result<()> {
    let any = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    sys::bring_up_loopback(any.as_fd())
}

/// Says something to the host; if it is gone there is nobody to hear it.
fn tell(status: BorrowedFd<'_>, message: &Status) {
    if let Ok(bytes) = postcard::to_allocvec(message) {
        let _ = launcher::send(status, &bytes, &[]);
    }
}
