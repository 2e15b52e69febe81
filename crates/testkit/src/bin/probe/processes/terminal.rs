//! Typing into a terminal. The attempts make a terminal of their own, so nobody's shell reads it.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;

use crate::attempt::{Attempt, Given, Stop, Tried, denied};
use crate::sys::{call, ignore_signal};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("processes.type", "types into a terminal by TIOCSTI", type_in).root(),
    Attempt::new("processes.type-high-bits", "the same, with high bits in the request", high_bits)
        .root(),
    Attempt::new("processes.console-paste", "pastes on a console by TIOCLINUX", paste).root(),
    Attempt::new("processes.type-request", "asks for TIOCSTI where no terminal is", ask_type),
    Attempt::new("processes.type-request-high-bits", "the same, with high bits", ask_type_high),
    Attempt::new("processes.paste-request", "asks for TIOCLINUX where no terminal is", ask_paste),
    Attempt::new("processes.host-terminal", "opens the controlling terminal", host_terminal),
    Attempt::new("processes.input-is-terminal", "finds a terminal on a stream", is_terminal),
];

/// A new terminal pair whose second end is the controlling terminal of a new session.
fn terminal() -> Result<(File, File), Stop> {
    // The end of the terminal would end this process before it has told anything.
    ignore_signal(libc::SIGHUP, true);
    // A session leader cannot start a session; then it has one of its own already.
    let _session = call!(libc::SYS_setsid);
    let options = || OpenOptions::new().read(true).write(true).to_owned();
    let master = options().custom_flags(libc::O_NOCTTY).open("/dev/ptmx")?;
    let (unlock, mut number) = (0i32.to_ne_bytes(), 0i32.to_ne_bytes());
    let fd = master.as_raw_fd();
    call!(libc::SYS_ioctl, fd, libc::TIOCSPTLCK, &unlock[..])?;
    call!(libc::SYS_ioctl, fd, libc::TIOCGPTN, &mut number[..])?;
    let slave = options().open(format!("/dev/pts/{}", i32::from_ne_bytes(number)))?;
    Ok((master, slave))
}

fn type_by(request: u64) -> Tried {
    let (_master, slave) = terminal()?;
    call!(libc::SYS_ioctl, slave.as_raw_fd(), request, &b"\n"[..])?;
    let mut byte = [0];
    call!(libc::SYS_read, slave.as_raw_fd(), &mut byte[..], 1)?;
    Ok("typed".to_owned())
}

fn type_in(_: &Given) -> Tried {
    type_by(libc::TIOCSTI)
}

fn high_bits(_: &Given) -> Tried {
    type_by(libc::TIOCSTI | 1 << 32)
}

fn paste(_: &Given) -> Tried {
    // Subcode 6 asks for the shift state: it is harmless, and on a terminal that is no console
    // it fails with an error of its own, which shows that the request reached the terminal.
    let (_master, slave) = terminal()?;
    let reached = call!(libc::SYS_ioctl, slave.as_raw_fd(), libc::TIOCLINUX, &b"\x06"[..]);
    crate::attempt::past_check(reached, libc::ENOTTY)
}

/// Makes a terminal's request of a pipe: an answer from the pipe shows that nothing filtered it.
fn ask(request: u64) -> Tried {
    let (reader, _writer) = std::io::pipe()?;
    let tried = call!(libc::SYS_ioctl, reader.as_raw_fd(), request, &b"\x06"[..]);
    crate::attempt::past_check(tried, libc::ENOTTY)
}

fn ask_type(_: &Given) -> Tried {
    ask(libc::TIOCSTI)
}

fn ask_type_high(_: &Given) -> Tried {
    ask(libc::TIOCSTI | 1 << 32)
}

fn ask_paste(_: &Given) -> Tried {
    ask(libc::TIOCLINUX)
}

fn host_terminal(_: &Given) -> Tried {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/tty")?;
    Ok("opened".to_owned())
}

fn is_terminal(_: &Given) -> Tried {
    use std::io::IsTerminal as _;
    let streams = [
        std::io::stdin().is_terminal(),
        std::io::stdout().is_terminal(),
        std::io::stderr().is_terminal(),
    ];
    if streams.contains(&true) { Ok(format!("{streams:?}")) } else { Err(denied("none is one")) }
}
