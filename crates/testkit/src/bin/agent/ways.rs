//! The ways to behave.

use std::{
    ffi::OsStr,
    io::{self, Read, Write},
    os::unix::ffi::OsStrExt,
    process::ExitCode,
    time::Duration,
};

/// Nothing here lasts longer.
const LONGEST: Duration = Duration::from_secs(60);

/// Behaves in one way.
pub(crate) fn go(way: &str, argument: &OsStr) -> ExitCode {
    let done = match way {
        "talk" => talk(number(argument)),
        "sleep" => sleep(LONGEST),
        "deaf" => deaf(),
        "hold" => hold(),
        "flood" => flood(number(argument)),
        "echo" => echo(),
        "late-echo" => late_echo(number(argument)),
        "crash" => crash(),
        "exit" => return ExitCode::from(u8::try_from(number(argument)).unwrap_or(1)),
        "mess" => print(b"before \xff \x1b[31mred\x1b[0m\n    indented\n\n\tlast"),
        "argument" => print(argument.as_bytes()),
        "environment" => environment(),
        _ => {
            eprintln!("agent: no way {way:?}");
            return ExitCode::from(20);
        }
    };
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(21) }
}

fn number(argument: &OsStr) -> u64 {
    argument.to_string_lossy().parse().unwrap_or(0)
}

fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

fn sleep(time: Duration) -> io::Result<()> {
    std::thread::sleep(time);
    Ok(())
}

/// So many lines, in turns on both streams.
fn talk(lines: u64) -> io::Result<()> {
    for line in 0..lines {
        println!("out {line}");
        eprintln!("err {line}");
    }
    Ok(())
}

/// Ignores SIGTERM.
fn deaf() -> io::Result<()> {
    // SAFETY: SIG_IGN is a disposition that signal() takes; there are no other threads.
    #[expect(unsafe_code, reason = "the one way to ignore a signal")]
    let before = unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    if before == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    println!("deaf");
    sleep(LONGEST)
}

/// Ends at once, and leaves a child of another session that holds its pipes.
fn hold() -> io::Result<()> {
    println!("held");
    // SAFETY: the child calls setsid, sleep and _exit alone.
    #[expect(unsafe_code, reason = "a child that leaves its session")]
    unsafe {
        match libc::fork() {
            -1 => return Err(io::Error::last_os_error()),
            0 => {
                libc::setsid();
                libc::sleep(60);
                libc::_exit(0);
            }
            _ => {}
        }
    }
    Ok(())
}

/// So many bytes in one line, as fast as they are read.
fn flood(bytes: u64) -> io::Result<()> {
    let (mut out, chunk) = (io::stdout().lock(), vec![b'x'; 1 << 16]);
    let mut left = bytes;
    while left > 0 {
        let part = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        out.write_all(&chunk[..part])?;
        left -= part as u64;
    }
    out.flush()
}

/// Gives back what it reads.
fn echo() -> io::Result<()> {
    io::copy(&mut io::stdin().lock(), &mut io::stdout().lock())?;
    io::stdout().flush()
}

/// Writes so many bytes before it reads, then says how many it read.
fn late_echo(bytes: u64) -> io::Result<()> {
    flood(bytes)?;
    let mut read = Vec::new();
    io::stdin().lock().read_to_end(&mut read)?;
    print(format!("\nread {}\n", read.len()).as_bytes())
}

fn crash() -> io::Result<()> {
    println!("about to crash");
    io::stdout().flush()?;
    std::process::abort()
}

/// Its variables, one a line.
#[expect(clippy::disallowed_methods, reason = "what is passed on is what is looked at")]
fn environment() -> io::Result<()> {
    for (name, value) in std::env::vars_os() {
        print(&[name.as_bytes(), b"=", value.as_bytes(), b"\n"].concat())?;
    }
    Ok(())
}
