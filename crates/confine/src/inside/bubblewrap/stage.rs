//! The other side: this executable again, started by `bwrap` as the first process of its
//! namespaces.
//!
//! It finds its descriptors under fixed numbers, looks at what `bwrap` has made, and goes on as
//! every first process does.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, StatVfsMountFlags, fstat, fstatvfs, openat2};
use rustix::process::{DumpableBehavior, Pid, getpid, set_dumpable_behavior};

use super::{FREE, ORDERS, PLAN, STATUS};
use crate::Step;
use crate::inside::payload::Payload;
use crate::inside::{During, Failure, finish, read_plan};
use crate::plan::{Bind, Guard, Plan, Status};
use crate::sys;

/// Goes on where `bwrap` has ended.
pub(crate) fn run_as_stage() -> ! {
    if let Ok((status, plan, orders)) = take_over() {
        let outcome =
            read_plan(plan).during(Step::ReadJob).and_then(|plan| go_on(&plan, &status, orders));
        finish(&status, outcome);
    }
    sys::exit_now(1)
}

/// Takes the descriptors, and closes every other.
fn take_over() -> io::Result<(OwnedFd, OwnedFd, OwnedFd)> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let taken = (sys::adopt(STATUS)?, sys::adopt(PLAN)?, sys::adopt(ORDERS)?);
    sys::close_from(FREE)?;
    Ok(taken)
}

/// Looks, and has the program started.
fn go_on(plan: &Plan, status: &OwnedFd, orders: OwnedFd) -> Result<Status, Failure> {
    check(plan)?;
    crate::inside::init::start_and_watch(plan, Payload { orders, status, witness: None })
}

/// Whether `bwrap` has made what the plan says, as far as it can be seen from within.
fn check(plan: &Plan) -> Result<(), Failure> {
    let Some(namespaces) = plan.namespaces.as_ref().filter(|_| getpid() == Pid::INIT) else {
        return Err(Failure { step: Step::Clone, errno: libc::EPERM });
    };
    namespaces.root.binds.iter().try_for_each(check_bind).during(Step::OpenTrees)?;
    namespaces.root.guards.iter().try_for_each(check_guard).during(Step::GuardPaths)
}

/// What is bound is what was looked at.
fn check_bind(bind: &Bind) -> io::Result<()> {
    let place = open(&bind.path)?;
    let stat = fstat(&place)?;
    let is_same = (stat.st_dev, stat.st_ino) == bind.identity;
    if is_same && (bind.writable || is_read_only(&place)?) { Ok(()) } else { Err(stale()) }
}

/// What is guarded can't be written; what is hidden can't be opened either.
fn check_guard(guard: &Guard) -> io::Result<()> {
    match open(&guard.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(place) if !is_read_only(&place)? => Err(stale()),
        Ok(place) if guard.hidden && fstat(&place)?.st_mode & 0o777 != 0 => Err(stale()),
        Ok(_) => Ok(()),
    }
}

fn is_read_only(place: &OwnedFd) -> io::Result<bool> {
    Ok(fstatvfs(place.as_fd())?.f_flag.contains(StatVfsMountFlags::RDONLY))
}

fn open(path: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

fn stale() -> io::Error {
    io::Error::from_raw_os_error(libc::ESTALE)
}
