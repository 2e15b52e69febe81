//! The second way in: `bwrap` makes the namespaces and the root, and the rest is done within.
//!
//! Some systems let only `bwrap` make user namespaces, and take every capability from what it
//! starts. So it is told the whole plan as arguments, and what it starts is this executable again
//! (a [`stage`]), as the first process of the new namespaces: Landlock, capabilities, seccomp, limits
//! and the watching are the same code as without it.
//!
//! What of the host is visible is opened here, as it is without `bwrap`: by a path without links,
//! and only if it is what it was when the plan was made. Guards are mounted by path, so the stage
//! looks at each before anything is started.

mod arguments;
mod stage;

use std::convert::Infallible;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::fcntl_dupfd_cloexec;

use self::arguments::Arguments;
use super::{During, Failure};
use crate::Step;
use crate::launcher::memory_file;
use crate::plan::{Namespaces, Plan};
use crate::sys;

pub(crate) use stage::run_as_stage;

/// The name in the environment that marks a stage.
pub(crate) const MARK: &CStr = c"REMIT_CONFINE_STAGE";

/// Where a stage finds its status socket, its plan, and its order socket.
const STATUS: RawFd = 0;
const PLAN: RawFd = 3;
const ORDERS: RawFd = 4;

/// The first number of what only `bwrap` needs.
const FREE: RawFd = 5;

/// Becomes `bwrap`; comes back only with what failed.
pub(super) fn become_bubblewrap(
    plan: &Plan,
    namespaces: &Namespaces,
    program: &CStr,
    sockets: (&OwnedFd, &OwnedFd),
) -> Failure {
    let Err(failure) = try_become(plan, namespaces, program, sockets);
    failure
}

/// The same, step by step.
fn try_become(
    plan: &Plan,
    namespaces: &Namespaces,
    program: &CStr,
    (status, orders): (&OwnedFd, &OwnedFd),
) -> Result<Infallible, Failure> {
    // It waits for what it starts, and learns of its end by a signal.
    sys::reset_signals().during(Step::Clone)?;
    let plan = plan.to_bytes().and_then(|bytes| memory_file(&bytes)).during(Step::ReadJob)?;
    let null = open_null().during(Step::Descriptors)?;
    let numbered = [(STATUS, status), (1, &null), (2, &null), (PLAN, &plan), (ORDERS, orders)];
    // Above all numbers that are given away.
    let moved: io::Result<Vec<_>> =
        numbered.iter().map(|(number, it)| Ok((*number, fcntl_dupfd_cloexec(it, FREE)?))).collect();
    let moved = moved.during(Step::Descriptors)?;
    let mut arguments = Arguments::new(program, namespaces);
    arguments.describe().during(Step::OpenTrees)?;
    let executable = open_own_executable().during(Step::Execute)?;
    let stage = arguments.keep(executable).during(Step::Descriptors)?;
    let (words, kept) = arguments.finish(&stage);
    for (number, descriptor) in &moved {
        sys::dup_onto(descriptor.as_fd(), *number).during(Step::Descriptors)?;
    }
    sys::close_on_exec_from(FREE).during(Step::Descriptors)?;
    for descriptor in &kept {
        sys::pass_on_exec(descriptor.as_fd()).during(Step::Descriptors)?;
    }
    let mark = [MARK.to_bytes(), b"=1"].concat();
    let environment = [CString::new(mark).during(Step::Execute)?];
    Err(sys::execute(program, &words, &environment)).during(Step::Clone)
}

/// Where what `bwrap` says goes.
fn open_null() -> io::Result<OwnedFd> {
    Ok(openat(CWD, c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

/// This executable, which need not be visible where it is started.
fn open_own_executable() -> io::Result<OwnedFd> {
    Ok(openat(CWD, c"/proc/self/exe", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// A descriptor's path for a program that inherits it.
fn path_of(descriptor: &OwnedFd) -> io::Result<CString> {
    Ok(CString::new(format!("/proc/self/fd/{}", descriptor.as_raw_fd()))?)
}
