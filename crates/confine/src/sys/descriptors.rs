//! Descriptors by number: what is inherited, and under which number.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Takes an inherited descriptor by its number, or says that none has it.
pub(crate) fn adopt(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_GETFD reads a flag of the descriptor table and touches no memory of ours.
    check(unsafe { libc::fcntl(number, libc::F_GETFD) })?;
    // SAFETY: the number is open, as just asked. The caller is a process that was started for one
    // purpose and takes each number once.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Closes every descriptor from `first` up.
pub(crate) fn close_from(first: RawFd) -> io::Result<()> {
    close_range(first, 0)
}

/// Closes every descriptor from `first` up when a program is started.
pub(crate) fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    close_range(first, libc::CLOSE_RANGE_CLOEXEC)
}

/// Closes one descriptor by its number.
pub(crate) fn close_number(number: RawFd) -> io::Result<()> {
    // SAFETY: close takes a number. The caller is a copy of the process that owned it and never
    // goes back to the code that would use it.
    check(unsafe { libc::close(number) })?;
    Ok(())
}

/// `close_range(2)`, Linux 5.9.
fn close_range(first: RawFd, flags: libc::c_uint) -> io::Result<()> {
    let first = libc::c_uint::try_from(first).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: close_range takes three numbers. The caller owns no value that still refers to a
    // descriptor in the range and would use it: it is about to start a program or to serve.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) };
    check_long(done)
}

/// Makes `number` refer to what `from` refers to, inherited by a program that is started.
pub(crate) fn dup_onto(from: BorrowedFd<'_>, number: RawFd) -> io::Result<()> {
    if from.as_raw_fd() == number {
        return pass_on_exec(from);
    }
    // SAFETY: dup2 takes two numbers; what was open under the second one is closed by intention.
    check(unsafe { libc::dup2(from.as_raw_fd(), number) })?;
    Ok(())
}

/// Lets a program that is started inherit the descriptor under its number.
pub(crate) fn pass_on_exec(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: F_SETFD writes a flag of the descriptor table and touches no memory of ours.
    check(unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFD, 0) })?;
    Ok(())
}

/// The answer of a call that gives -1 and `errno`.
pub(super) fn check(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// The same for `syscall`.
pub(super) fn check_long(answer: libc::c_long) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
