//! The two things these tests need of the kernel that no safe library offers: loading a filter, and
//! making any call with any arguments.

#![expect(unsafe_code, reason = "raw system calls are what is tested")]

use std::io;
use std::ptr::from_ref;

use confine::seccomp::Filter;

/// Loads a filter for this thread and what it starts.
pub(crate) fn load(filter: &Filter) -> io::Result<()> {
    let instructions = filter.instructions();
    let program = libc::sock_fprog {
        len: u16::try_from(instructions.len()).expect("a filter is short"),
        filter: instructions.as_ptr().cast_mut().cast(),
    };
    let address = from_ref(&program).addr() as u64;
    set(libc::PR_SET_NO_NEW_PRIVS, 1, 0)?;
    set(libc::PR_SET_SECCOMP, u64::from(libc::SECCOMP_MODE_FILTER), address)
}

fn set(option: i32, a: u64, b: u64) -> io::Result<()> {
    let zero = 0u64;
    // SAFETY: `PR_SET_NO_NEW_PRIVS` takes no pointer; `PR_SET_SECCOMP` reads a `sock_fprog` and the
    // instructions it points to during the call, and both live in the caller until then.
    match unsafe { libc::prctl(option, a, b, zero, zero) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes a call with these arguments: what it returns, or the error's number.
///
/// The cases only pass arguments with which a call fails or does no harm: addresses are null,
/// invalid, or those of live values.
pub(crate) fn call(number: libc::c_long, args: [u64; 6]) -> Result<i64, i32> {
    let [a, b, c, d, e, f] = args;
    // SAFETY: see above; with such arguments the kernel writes to no memory but what they name.
    match unsafe { libc::syscall(number, a, b, c, d, e, f) } {
        -1 => Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)),
        value => Ok(value),
    }
}
