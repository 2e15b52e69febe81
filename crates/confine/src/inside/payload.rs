//! The process that becomes the program.
//!
//! It gives up everything in an order in which each step still may do what it needs: descriptors,
//! working directory and limits first, then Landlock (which opens paths), capabilities, and seccomp
//! last, after which there is only `execve`. A step that fails is written to a pipe that the
//! program does not inherit: when the pipe closes without a word, the program runs.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd, RawFd};

use rustix::fs::Mode;
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{chdir, setsid, umask};

use super::{During, Failure, privileges, restrict};
use crate::Step;
use crate::plan::{Plan, Program, Status};
use crate::sys;

/// The mask for new files: nobody but the owner writes.
const UMASK: Mode = Mode::from_raw_mode(0o022);

/// Becomes the program, or says on the pipe why not and ends.
pub(super) fn become_program(
    plan: &Plan,
    program: &Program,
    inherited: Vec<OwnedFd>,
    failure: &OwnedFd,
) -> ! {
    if let Err((step, errno, pipe)) = try_become(plan, program, inherited, failure) {
        let message = postcard::to_allocvec(&Status::Failed { step, errno });
        // Nobody is left to tell if even this fails; the end without a program says enough.
        let _ = message.map(|bytes| rustix::io::write(&pipe, &bytes));
    }
    sys::exit_now(127)
}

/// The steps; comes back only with the one that failed, and where to say so.
fn try_become(
    plan: &Plan,
    program: &Program,
    inherited: Vec<OwnedFd>,
    failure: &OwnedFd,
) -> Result<(), (Step, i32, OwnedFd)> {
    let Ok(pipe) = take_places(inherited, failure) else { return Ok(()) };
    let failed = prepare(plan, program).and_then(|()| execute(program).during(Step::Execute));
    match failed {
        Err(Failure { step, errno }) => Err((step, errno, pipe)),
        Ok(()) => Ok(()),
    }
}

/// Gives each inherited descriptor its number, counted from 0, and closes all others at the
/// program's start. The pipe comes back under a number above them.
fn take_places(inherited: Vec<OwnedFd>, failure: &OwnedFd) -> io::Result<OwnedFd> {
    let count = RawFd::try_from(inherited.len()).map_err(io::Error::other)?;
    let pipe = fcntl_dupfd_cloexec(failure, count)?;
    let moved: Vec<OwnedFd> = inherited
        .iter()
        .map(|descriptor| fcntl_dupfd_cloexec(descriptor, count))
        .collect::<Result<_, _>>()?;
    for (number, descriptor) in (0..).zip(&moved) {
        sys::dup_onto(descriptor.as_fd(), number)?;
    }
    // Their old numbers may be among the new ones now.
    inherited.into_iter().for_each(std::mem::forget);
    sys::close_on_exec_from(count)?;
    Ok(pipe)
}

/// Everything between the descriptors and the program.
fn prepare(plan: &Plan, program: &Program) -> Result<(), Failure> {
    setsid().during(Step::Fork)?;
    sys::unblock_signals().during(Step::Fork)?;
    umask(UMASK);
    give_up(plan, || chdir(&program.directory).during(Step::WorkingDirectory))
}

/// All that is given up, with what has to be done after Landlock and before seccomp.
fn give_up(plan: &Plan, enter: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    restrict::limit(&plan.rlimits).during(Step::Rlimits)?;
    if plan.empty_bounding_set {
        privileges::empty_bounding_set().during(Step::Capabilities)?;
    }
    privileges::no_new().during(Step::Capabilities)?;
    if let Some(rules) = &plan.landlock {
        restrict::landlock(rules).during(Step::Landlock)?;
    }
    enter()?;
    privileges::drop_capabilities().during(Step::Capabilities)?;
    match &plan.seccomp {
        Some(filter) => sys::install_filter(filter).during(Step::Seccomp),
        None => Ok(()),
    }
}

/// Goes through the same without a program: what fails here would fail for any.
pub(super) fn rehearse(plan: &Plan) -> Result<(), Failure> {
    give_up(plan, || Ok(()))
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

/// Waits until the program runs, or until it is known why it does not.
pub(super) fn outcome(pipe: &OwnedFd) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    let file = File::from(pipe.try_clone().during(Step::Fork)?);
    (&file).read_to_end(&mut bytes).during(Step::Fork)?;
    match postcard::from_bytes(&bytes) {
        Ok(Status::Failed { step, errno }) => Err(Failure { step, errno }),
        _ => Ok(()),
    }
}
