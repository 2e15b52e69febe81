//! The process that becomes the program.
//!
//! It gives up everything in an order in which each step still may do what it needs: Landlock (which
//! opens paths), capabilities, and seccomp last. Then it says that it is ready and waits to be told
//! what to start, which may be long after: nothing that is left to do is forbidden to it. Limits on
//! itself and the working directory come then; the directory is entered as the program could. The
//! host sees that the program runs when the order socket closes, because no program inherits it.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

use rustix::fs::Mode;
use rustix::io::fcntl_dupfd_cloexec;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};
use rustix::process::{chdir, setsid, umask};

use super::{During, Failure, privileges, restrict, tell};
use crate::Step;
use crate::launcher;
use crate::plan::{Plan, Program, Status};
use crate::sys;
use crate::witness::Witness;

/// The mask for new files: nobody but the owner writes.
const UMASK: Mode = Mode::from_raw_mode(0o022);

/// How many connections wait on a listener until the host takes them.
const LISTENER_BACKLOG: i32 = 128;

/// What the process works with.
pub(super) struct Payload<'a> {
    /// Where the order comes from.
    pub(super) orders: OwnedFd,
    /// Where the host is told.
    pub(super) status: &'a OwnedFd,
    /// What the view depends on, if the host has to know.
    pub(super) witness: Option<Witness>,
}

impl Payload<'_> {
    /// Becomes the program, or says why not and ends.
    pub(super) fn become_program(self, plan: &Plan) -> ! {
        let status = self.status.as_fd();
        match give_up(plan) {
            Ok(()) => {
                tell(status, &Status::Ready(self.witness));
                carry_out_order(plan, self.orders, status);
            }
            Err(failure) => tell_failure(status, failure),
        }
        sys::exit_now(127)
    }
}

/// All that is given up and taken on before it is known what will be started.
fn give_up(plan: &Plan) -> Result<(), Failure> {
    setsid().during(Step::Fork)?;
    sys::unblock_signals().during(Step::Fork)?;
    umask(UMASK);
    if plan.empty_bounding_set {
        privileges::empty_bounding_set().during(Step::Capabilities)?;
    }
    privileges::no_new().during(Step::Capabilities)?;
    if let Some(rules) = &plan.landlock {
        restrict::landlock(rules).during(Step::Landlock)?;
    }
    privileges::drop_capabilities().during(Step::Capabilities)?;
    match &plan.seccomp {
        Some(filter) => sys::install_filter(filter).during(Step::Seccomp),
        None => Ok(()),
    }
}

/// Waits for the order and becomes the program, or says why not.
fn carry_out_order(plan: &Plan, orders: OwnedFd, status: BorrowedFd<'_>) {
    // Without an order the host wants nothing: it is gone, or was only trying.
    let Ok((order, inherited)) = launcher::receive_long(orders.as_fd()) else { return };
    let places = Places::take(inherited, orders, status).during(Step::Descriptors);
    match places.and_then(|places| Ok((places, read(&order)?))) {
        Ok((places, program)) => {
            if let Err(failure) = start(plan, &program, places.status.as_fd()) {
                tell_failure(places.status.as_fd(), failure);
            }
        }
        Err(failure) => tell_failure(status, failure),
    }
}

/// What an order says.
fn read(order: &[u8]) -> Result<Program, Failure> {
    postcard::from_bytes(order).map_err(io::Error::other).during(Step::ReadJob)
}

/// Says which step failed.
fn tell_failure(status: BorrowedFd<'_>, Failure { step, errno }: Failure) {
    tell(status, &Status::Failed { step, errno });
}

/// The two sockets, under numbers above those of the program's own descriptors.
struct Places {
    status: OwnedFd,
    /// Closed by the program's start.
    _orders: OwnedFd,
}

impl Places {
    /// Gives each inherited descriptor its number, counted from 0, and has all others closed at the
    /// program's start.
    fn take(inherited: Vec<OwnedFd>, orders: OwnedFd, status: BorrowedFd<'_>) -> io::Result<Self> {
        let count = RawFd::try_from(inherited.len()).map_err(io::Error::other)?;
        let above = |descriptor: BorrowedFd<'_>| fcntl_dupfd_cloexec(descriptor, count);
        let places = Self { status: above(status)?, _orders: above(orders.as_fd())? };
        let moved: Vec<OwnedFd> =
            inherited.iter().map(|one| above(one.as_fd())).collect::<Result<_, _>>()?;
        for (number, descriptor) in (0..).zip(&moved) {
            sys::dup_onto(descriptor.as_fd(), number)?;
        }
        // Their old numbers may be among the new ones now.
        inherited.into_iter().chain([orders]).for_each(std::mem::forget);
        sys::close_on_exec_from(count)?;
        Ok(places)
    }
}

/// The rest of the way; comes back only with the step that failed.
fn start(plan: &Plan, program: &Program, status: BorrowedFd<'_>) -> Result<(), Failure> {
    restrict::limit(&plan.rlimits).during(Step::Rlimits)?;
    chdir(&program.directory).during(Step::WorkingDirectory)?;
    if let Some(port) = program.listener {
        hand_over_listener(port, status).during(Step::Network)?;
    }
    tell(status, &Status::Starting);
    execute(program).during(Step::Execute)
}

/// Makes a listener on the loopback interface, and gives it to the host. A socket belongs to the
/// network that it was made in, whoever holds it.
fn hand_over_listener(port: u16, status: BorrowedFd<'_>) -> io::Result<()> {
    let listener =
        socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    listen(&listener, LISTENER_BACKLOG)?;
    let message = postcard::to_allocvec(&Status::Listening).map_err(io::Error::other)?;
    launcher::send(status, &message, &[listener.as_fd()])
}

/// Starts the first candidate that there is.
fn execute(program: &Program) -> io::Result<()> {
    let mut worst = io::Error::from_raw_os_error(libc::ENOENT);
    for candidate in &program.candidates {
        let error = sys::execute(candidate, &program.arguments, &program.environment);
        match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR) => {}
            Some(libc::EACCES) => worst = error,
            _ => return Err(error),
        }
    }
    Err(worst)
}
