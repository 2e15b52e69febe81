//! Other ways into the kernel: the 32-bit entry and the x32 numbers, which filters forget.

use crate::attempt::{Attempt, Given, Stop, Tried};
#[cfg(target_arch = "x86_64")]
use crate::sys::{call, call_i386, fork, wait};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("kernel.i386-getpid", "calls by the 32-bit entry", i386_getpid),
    Attempt::new("kernel.i386-socket", "opens a socket by the 32-bit entry", i386_socket),
    Attempt::new("kernel.i386-unshare", "makes a namespace by the 32-bit entry", i386_unshare),
    Attempt::new("kernel.i386-keyctl", "reads a keyring by the 32-bit entry", i386_keyctl),
    Attempt::new("kernel.x32-getpid", "calls by an x32 number", x32_getpid),
    Attempt::new("kernel.x32-ptrace", "is traced by an x32 number", x32_ptrace),
];

/// Makes a call in a child by the 32-bit entry: where it is missing, or forbidden with death, the
/// child dies of it.
#[cfg(target_arch = "x86_64")]
fn i386(number: u32, arguments: [u32; 3]) -> Tried {
    let [first, second, third] = arguments;
    let child = fork(|| match call_i386(number, first, second, third) {
        errno @ -4095..=-1 => -errno,
        _ => 0,
    })?;
    let status = wait(child)?;
    match (libc::WIFEXITED(status), libc::WEXITSTATUS(status)) {
        (true, 0) => Ok("called".to_owned()),
        (true, errno) => Err(std::io::Error::from_raw_os_error(errno).into()),
        (false, _) => Err(Stop::Denied(None, "killed".to_owned())),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn i386(_: u32, _: [u32; 3]) -> Tried {
    Err(Stop::Untried("there is no such entry on this processor".to_owned()))
}

fn i386_getpid(_: &Given) -> Tried {
    i386(20, [0, 0, 0])
}

fn i386_socket(_: &Given) -> Tried {
    // 359 is socket: AF_INET, SOCK_STREAM.
    i386(359, [2, 1, 0])
}

fn i386_unshare(_: &Given) -> Tried {
    // 310 is unshare: CLONE_NEWUSER.
    i386(310, [0x1000_0000, 0, 0])
}

fn i386_keyctl(_: &Given) -> Tried {
    // 288 is keyctl: the number of the session keyring.
    i386(288, [0, 0xffff_fffd, 0])
}

#[cfg(target_arch = "x86_64")]
fn x32(number: libc::c_long) -> Tried {
    const X32: libc::c_long = 0x4000_0000;
    call!(X32 | number, 0, 0, 0, 0)?;
    Ok("called".to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn x32(_: libc::c_long) -> Tried {
    Err(Stop::Untried("there are no such numbers on this processor".to_owned()))
}

fn x32_getpid(_: &Given) -> Tried {
    x32(libc::SYS_getpid)
}

fn x32_ptrace(_: &Given) -> Tried {
    // 521 is ptrace among the x32 numbers: PTRACE_TRACEME.
    x32(521)
}
