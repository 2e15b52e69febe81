//! A child between the request for it and the start of its program, seen from the host.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use super::{Groups, status};
use crate::cgroup::fresh_name;
use crate::launcher::{self, Job};
use crate::plan::{Namespaces, Plan, Program, Status};
use crate::prepare::Sealed;
use crate::witness::Witness;
use crate::{Prepared, Step};

/// Which process a launch may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// One that waits in namespaces of its own, or a new one.
    Spare,
    /// A new one, which knows the newest mounts.
    Scratch,
    /// Any; it will wait for its order, and has to say what its view depends on.
    Ahead,
}

/// A child that has not started its program.
#[derive(Debug)]
pub(super) struct Launching {
    status: OwnedFd,
    orders: OwnedFd,
    groups: Groups,
    heard: Heard,
}

/// What was said on the status socket.
#[derive(Debug, Default)]
struct Heard {
    pidfd: Option<OwnedFd>,
    ready: Option<Option<Witness>>,
    listener: Option<OwnedFd>,
    is_starting: bool,
    /// The last word: a failure or an end.
    last: Option<Status>,
}

/// A child that has.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) status: OwnedFd,
    pub(super) pidfd: OwnedFd,
    pub(super) groups: Groups,
    /// A listener in the child's network, where one was asked for.
    pub(super) listener: Option<OwnedFd>,
    /// The end, where it came at once.
    pub(super) end: Option<Status>,
}

/// Why no program was started.
#[derive(Debug)]
pub(super) enum NotLaunched {
    /// A step failed.
    Step(Step, i32),
    /// Its process ended without a word: nothing was started.
    Vanished,
    /// The host could not go on.
    Host(io::Error),
}

impl From<io::Error> for NotLaunched {
    fn from(error: io::Error) -> Self {
        Self::Host(error)
    }
}

impl Launching {
    /// Asks the launcher for a child's processes.
    pub(super) fn begin(prepared: &Prepared, plan: &Sealed, origin: Origin) -> io::Result<Self> {
        let name = fresh_name();
        let groups = Groups::named(&prepared.groups, &name);
        let job = Job {
            namespaces: clone_flags(&plan.plan),
            may_be_spare: origin != Origin::Scratch,
            is_ahead: origin == Origin::Ahead,
            groups: prepared.blueprints.clone(),
            name,
        };
        Self::ask(job, &plan.file, groups)
    }

    /// Asks for processes that only try a plan.
    pub(super) fn rehearse(plan: &Plan) -> io::Result<Self> {
        let file = launcher::memory_file(&plan.to_bytes()?)?;
        let job = Job {
            namespaces: clone_flags(plan),
            may_be_spare: false,
            is_ahead: false,
            groups: Vec::new(),
            name: String::new(),
        };
        Self::ask(job, &file, Groups::none())
    }

    /// The request itself.
    fn ask(job: Job, plan: &OwnedFd, groups: Groups) -> io::Result<Self> {
        let (status, their_status) = launcher::pair()?;
        let (orders, their_orders) = launcher::pair()?;
        launcher::ask(job, &[plan.as_fd(), their_status.as_fd(), their_orders.as_fd()])?;
        Ok(Self { status, orders, groups, heard: Heard::default() })
    }

    /// Says what to start. It is carried out as soon as everything else is done.
    pub(super) fn order(&self, program: &Program, inherited: &[OwnedFd]) -> io::Result<()> {
        let bytes = postcard::to_allocvec(program).map_err(io::Error::other)?;
        let inherited: Vec<BorrowedFd<'_>> = inherited.iter().map(AsFd::as_fd).collect();
        launcher::send_long(self.orders.as_fd(), &bytes, &inherited)
    }

    /// Waits until the program runs.
    pub(super) fn started(mut self) -> Result<Launched, NotLaunched> {
        status::await_close(&self.orders)?;
        while self.heard.last.is_none() && self.hear_now()? {}
        // Without a start there is a reason, which is told a moment later, or the end of it all.
        while !self.heard.is_starting && self.heard.last.is_none() && self.hear()? {}
        match self.heard.last {
            Some(Status::Failed { step, errno }) => return Err(NotLaunched::Step(step, errno)),
            _ if !self.heard.is_starting => return Err(NotLaunched::Vanished),
            _ => {}
        }
        while self.heard.pidfd.is_none() && self.hear()? {}
        let Self { status, groups, heard, .. } = self;
        let pidfd = heard.pidfd.ok_or(NotLaunched::Vanished)?;
        Ok(Launched { status, pidfd, groups, listener: heard.listener, end: heard.last })
    }

    /// Whether nothing is left but the order, as far as was told.
    pub(super) fn is_ready_now(&mut self) -> bool {
        while self.heard.ready.is_none() && self.hear_now().is_ok_and(|heard| heard) {}
        self.heard.ready.is_some()
    }

    /// Waits until nothing is left but the order; nothing if that failed or took longer.
    pub(super) fn ready(&mut self, timeout: Duration) -> Result<Option<&Witness>, NotLaunched> {
        while self.heard.ready.is_none() {
            if !status::is_ready(&self.status, timeout)? || !self.hear()? {
                return Err(NotLaunched::Vanished);
            }
            if let Some(Status::Failed { step, errno }) = self.heard.last {
                return Err(NotLaunched::Step(step, errno));
            }
        }
        Ok(self.heard.ready.as_ref().and_then(Option::as_ref))
    }

    /// Takes one message in; whether there was one.
    fn hear(&mut self) -> io::Result<bool> {
        let message = status::next(&self.status)?;
        Ok(self.heard.take_in(message))
    }

    /// The same for a message that has come already.
    fn hear_now(&mut self) -> io::Result<bool> {
        let message = status::next_now(&self.status)?;
        Ok(self.heard.take_in(message))
    }
}

impl Heard {
    /// Takes a message in, if there is one.
    fn take_in(&mut self, message: Option<(Status, Option<OwnedFd>)>) -> bool {
        match message {
            None => return false,
            Some((Status::Made, pidfd)) => self.pidfd = pidfd,
            Some((Status::Ready(witness), _)) => self.ready = Some(witness),
            Some((Status::Listening, listener)) => self.listener = listener,
            Some((Status::Starting, _)) => self.is_starting = true,
            Some((last, _)) => self.last = Some(last),
        }
        true
    }
}

/// The namespaces of a plan as `clone3` takes them.
fn clone_flags(plan: &Plan) -> u64 {
    const ALWAYS: libc::c_int = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    let flags = match &plan.namespaces {
        None | Some(Namespaces { bubblewrap: Some(_), .. }) => 0,
        Some(Namespaces { network: false, .. }) => ALWAYS,
        Some(Namespaces { network: true, .. }) => ALWAYS | libc::CLONE_NEWNET,
    };
    u64::from(flags.unsigned_abs())
}
