//! What a child's first process does: confine itself, start the program, watch it, end.
//!
//! It is a copy of the launcher, in new namespaces if the plan has them, and the first process of
//! its process-id namespace: when it ends, the kernel ends every process in there. It carries out
//! the plan in a fixed order and answers the first step that fails on the status socket.
//!
//! - [`identity`], [`root`], [`guards`]: the namespaces' insides.
//! - [`payload`]: the process that becomes the program.
//! - [`privileges`], [`restrict`]: what it gives up and how it is restricted.
//! - [`init`]: watching until the end.

mod guards;
mod identity;
mod init;
mod payload;
mod privileges;
mod restrict;
mod root;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::{AddressFamily, SocketType, socket};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::Step;
use crate::launcher;
use crate::plan::{Identity, Job, Namespaces, Plan, Status};
use crate::sys;

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

/// The descriptors of a job, sorted.
struct Received {
    job: Job,
    status: OwnedFd,
    cgroups: Vec<OwnedFd>,
    inherited: Vec<OwnedFd>,
}

/// Carries out a job in a process that was just made for it.
pub(crate) fn run(descriptors: Vec<OwnedFd>) -> ! {
    if let Some(received) = receive(descriptors).filter(|_| bind_to_launcher().is_ok()) {
        carry_out(received, None);
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
        let mut byte = [0];
        let job = launcher::receive(jobs.as_fd(), &mut byte);
        let number = jobs.as_raw_fd();
        if let Some(received) = job.ok().and_then(|(_, descriptors)| receive(descriptors))
            && sys::close_number(number).is_ok()
        {
            carry_out(received, Some(ahead));
        }
    }
    sys::exit_now(1)
}

/// The first way to end with the launcher; the status socket, closed by the host, is another.
fn bind_to_launcher() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Reads the job and names its descriptors. Without a status socket there is nobody to tell.
fn receive(descriptors: Vec<OwnedFd>) -> Option<Received> {
    let mut descriptors = descriptors.into_iter();
    let job_file = descriptors.next()?;
    let status = descriptors.next()?;
    match read_job(job_file) {
        Ok(job) => {
            let cgroups = descriptors.by_ref().take(job.plan.cgroups).collect();
            Some(Received { job, status, cgroups, inherited: descriptors.collect() })
        }
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
            tell(status.as_fd(), Status::Failed { step: Step::ReadJob, errno });
            None
        }
    }
}

/// Reads a job from its memory file.
fn read_job(file: OwnedFd) -> io::Result<Job> {
    let mut file = File::from(file);
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

/// Confines, starts, watches; answers on the status socket.
fn carry_out(received: Received, ahead: Option<Result<Ahead, Failure>>) {
    let Received { job, status, cgroups, inherited } = received;
    let outcome = confine(&job.plan, &cgroups, ahead).and_then(|()| match &job.program {
        Some(program) => init::start_and_watch(&job.plan, program, inherited, status.as_fd()),
        None => payload::rehearse(&job.plan).map(|()| Status::Exited(0)),
    });
    let last = outcome.unwrap_or_else(|Failure { step, errno }| Status::Failed { step, errno });
    tell(status.as_fd(), last);
}

/// Everything that init and the program share.
fn confine(
    plan: &Plan,
    cgroups: &[OwnedFd],
    ahead: Option<Result<Ahead, Failure>>,
) -> Result<(), Failure> {
    for procs in cgroups {
        rustix::io::write(procs, b"0").during(Step::JoinCgroups)?;
    }
    let Some(namespaces) = &plan.namespaces else {
        // Its end would leave its descendants alive: it ends with the host, and ends them first.
        return set_parent_process_death_signal(None).during(Step::Fork);
    };
    let Namespaces { identity, network, root } = namespaces;
    let ahead = ahead.unwrap_or_else(|| Ahead::make(*identity, *network))?;
    if ahead.identity != *identity {
        return Err(Failure { step: Step::MapIdentity, errno: libc::EPERM });
    }
    root::enter(root, ahead.made)
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
fn tell(status: BorrowedFd<'_>, message: Status) {
    if let Ok(bytes) = postcard::to_allocvec(&message) {
        let _ = launcher::send(status, &bytes, &[]);
    }
}
