//! Signals: none of the host's mask or dispositions reaches a child, and init reads its own.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;

use super::descriptors::check;

/// The kernel's `struct sigaction` with the default disposition and nothing else.
static DEFAULT_ACTION: [u64; 4] = [0; 4];

/// The highest signal of Linux.
const LAST_SIGNAL: libc::c_int = 64;

/// Gives every signal its default disposition and blocks none.
pub(crate) fn reset_signals() -> io::Result<()> {
    for signal in 1..=LAST_SIGNAL {
        // The C library would refuse the two signals that it keeps for itself.
        // SAFETY: a structure of zeroes, longer than the kernel's, asks for the default, installs
        // no handler, and lives across the call. The two signals that can't be changed are refused,
        // which changes nothing.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                &raw const DEFAULT_ACTION,
                ptr::null_mut::<u64>(),
                size_of::<u64>(),
            )
        };
    }
    unblock_signals()
}

/// Blocks no signal.
pub(crate) fn unblock_signals() -> io::Result<()> {
    set_mask(libc::SIG_SETMASK, &empty_set())
}

/// Has the kernel reap the children of this process.
pub(crate) fn reap_automatically() -> io::Result<()> {
    // SAFETY: SIG_IGN installs no handler.
    let before = unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Has children wait to be reaped, blocks `SIGCHLD`, and gives a descriptor that is readable when
/// one is pending.
pub(crate) fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: SIG_DFL installs no handler.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    let mut set = empty_set();
    // SAFETY: the set is initialised and SIGCHLD is a signal.
    check(unsafe { libc::sigaddset(&raw mut set, libc::SIGCHLD) })?;
    set_mask(libc::SIG_BLOCK, &set)?;
    let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
    // SAFETY: the set is initialised and -1 asks for a new descriptor.
    let number = check(unsafe { libc::signalfd(-1, &raw const set, flags) })?;
    // SAFETY: the kernel just made the descriptor and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// A set without a signal.
fn empty_set() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset writes the whole set and can't fail for a valid pointer.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: just initialised.
    unsafe { set.assume_init() }
}

/// Changes which signals are blocked.
fn set_mask(how: libc::c_int, set: &libc::sigset_t) -> io::Result<()> {
    // SAFETY: the set is initialised, and a null pointer asks for no copy of the old one.
    check(unsafe { libc::sigprocmask(how, set, ptr::null_mut()) })?;
    Ok(())
}
