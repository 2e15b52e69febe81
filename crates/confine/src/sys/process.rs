//! Making a process, becoming a program, ending.
//!
//! Both ways of making a process are used by the launcher and by what it made only, never by the
//! host: those have one thread, so the copy finds every lock free and may allocate.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::ptr;

use super::descriptors::check;

/// Who returns from [`clone_with_pidfd`].
pub(crate) enum Cloned {
    /// The caller, with a descriptor of the new process.
    Parent(OwnedFd),
    /// The new process.
    Child,
}

/// Who returns from [`fork`].
pub(crate) enum Forked {
    /// The caller, with the number of the new process.
    Parent(libc::pid_t),
    /// The new process.
    Child,
}

/// Makes a process in the new namespaces that `namespaces` (`CLONE_NEW…`) asks for.
pub(crate) fn clone_with_pidfd(namespaces: u64) -> io::Result<Cloned> {
    let mut pidfd: RawFd = -1;
    let arguments = libc::clone_args {
        flags: namespaces | libc::CLONE_PIDFD as u64,
        pidfd: ptr::from_mut(&mut pidfd) as u64,
        child_tid: 0,
        parent_tid: 0,
        exit_signal: libc::SIGCHLD as u64,
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: 0,
    };
    let size = size_of_val(&arguments);
    // SAFETY: the structure and the place of the pidfd live across the call and the size is the
    // structure's. Without CLONE_VM the child has a copy of the memory and goes on from here; the
    // process has one thread, so no lock is held by a thread that the copy lacks.
    let answer = unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size) };
    match answer {
        0 => Ok(Cloned::Child),
        1.. => {
            // SAFETY: the kernel stored a new descriptor that nobody else knows.
            Ok(Cloned::Parent(unsafe { OwnedFd::from_raw_fd(pidfd) }))
        }
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes a copy of this process.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: fork has no requirement but that a copy of a process with several threads only does
    // what is safe in a signal handler; this process has one thread.
    match check(unsafe { libc::fork() })? {
        0 => Ok(Forked::Child),
        pid => Ok(Forked::Parent(pid)),
    }
}

/// Becomes `program`; returns only if that failed.
pub(crate) fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    let arguments = pointers(arguments);
    let environment = pointers(environment);
    // SAFETY: both lists end with a null pointer and point to strings that outlive the call.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}

/// The list that `execve` takes.
fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

/// Ends this process at once, running nothing that was registered to run at an exit.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: _exit has no requirement and does not return.
    unsafe { libc::_exit(code) }
}
