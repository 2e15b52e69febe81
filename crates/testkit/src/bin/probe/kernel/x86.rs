//! What only x86 has: the 32-bit entry and the x32 numbers, which filters forget, ports, and
//! segments.

use crate::attempt::{Attempt, Given, Stop, Tried};
use crate::sys::{call, call_i386, fork, halves, wait};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("kernel.i386-getpid", "calls by the 32-bit entry", i386_getpid),
    Attempt::new("kernel.i386-socket", "opens a socket by the 32-bit entry", i386_socket),
    Attempt::new("kernel.i386-unshare", "makes a namespace by the 32-bit entry", i386_unshare),
    Attempt::new("kernel.i386-keyctl", "reads a keyring by the 32-bit entry", i386_keyctl),
    Attempt::new("kernel.x32-getpid", "calls by an x32 number", x32_getpid),
    Attempt::new("kernel.x32-ptrace", "is traced by an x32 number", x32_ptrace),
    Attempt::new("kernel.io-level", "asks for all ports", io_level).root(),
    Attempt::new("kernel.io-port", "asks for one port", io_port).root(),
    Attempt::new("kernel.local-descriptor-table", "adds a segment", descriptor_table),
];

/// Makes a call in a child by the 32-bit entry: where it is missing, or forbidden with death, the
/// child dies of it.
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

fn x32(number: libc::c_long) -> Tried {
    const X32: libc::c_long = 0x4000_0000;
    call!(X32 | number, 0, 0, 0, 0)?;
    Ok("called".to_owned())
}

fn x32_getpid(_: &Given) -> Tried {
    x32(libc::SYS_getpid)
}

fn x32_ptrace(_: &Given) -> Tried {
    // 521 is ptrace among the x32 numbers: PTRACE_TRACEME.
    x32(521)
}

fn io_level(_: &Given) -> Tried {
    call!(libc::SYS_iopl, 3)?;
    Ok("all ports".to_owned())
}

fn io_port(_: &Given) -> Tried {
    call!(libc::SYS_ioperm, 0x80, 1, 1)?;
    Ok("one port".to_owned())
}

fn descriptor_table(_: &Given) -> Tried {
    // Function 1 writes; an entry that is all zero but "not present" clears entry 0.
    let entry = halves(&[0, 0, 0, 1 << 3 | 1 << 5]);
    call!(libc::SYS_modify_ldt, 1, &entry, entry.len())?;
    Ok("written".to_owned())
}
