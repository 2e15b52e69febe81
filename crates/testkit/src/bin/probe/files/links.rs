//! Links and descriptors as ways around a path.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::symlink;

use super::{MARK, append, read_canary};
use crate::attempt::{Attempt, Given, Tried, denied};
use crate::sys::{call, owned};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("files.symlink-write", "writes through a symbolic link", symlink_write),
    Attempt::new("files.symlink-read", "reads through a symbolic link", symlink_read),
    Attempt::new("files.symlink-directory", "creates below a linked directory", symlink_directory),
    Attempt::new("files.hard-link-out", "hard-links a host file into the workdir", hard_link_out),
    Attempt::new("files.hard-link-in", "hard-links a file of ours beside it", hard_link_in),
    Attempt::new("files.hard-link-alias", "writes a read-only file by an alias", hard_link_alias),
    Attempt::new("files.inherited-directory", "opens below an inherited directory", inherited),
    Attempt::new("files.inherited-dotdot", "opens .. of an inherited directory", inherited_dotdot),
    Attempt::new("files.inherited-file", "reads an inherited open file", inherited_file),
    Attempt::new("files.inherited-high", "reads one with a number above 1023", inherited_high),
    Attempt::new("files.inherited-magic", "reopens one for writing by /proc/self/fd", magic),
];

fn symlink_write(given: &Given) -> Tried {
    let link = given.path("work", "link")?;
    symlink(given.path("outside", "target")?, &link)?;
    append(&link)
}

fn symlink_read(given: &Given) -> Tried {
    let link = given.path("work", "link")?;
    symlink(given.path("outside", "canary")?, &link)?;
    read_canary(&link)
}

fn symlink_directory(given: &Given) -> Tried {
    let link = given.path("work", "link")?;
    symlink(given.path("outside", "")?, &link)?;
    append(&link.join("planted"))
}

fn hard_link_out(given: &Given) -> Tried {
    let alias = given.path("work", "alias")?;
    fs::hard_link(given.path("outside", "canary")?, &alias)?;
    read_canary(&alias)
}

fn hard_link_in(given: &Given) -> Tried {
    let ours = given.path("work", "evil")?;
    fs::write(&ours, MARK)?;
    fs::hard_link(&ours, given.path("ro", "planted")?)?;
    Ok("linked".to_owned())
}

fn hard_link_alias(given: &Given) -> Tried {
    let alias = given.path("work", "alias")?;
    fs::hard_link(given.path("ro", "file")?, &alias)?;
    append(&alias)
}

fn inherited(given: &Given) -> Tried {
    read_below(given.number("dirfd")?, c"canary")
}

fn inherited_dotdot(given: &Given) -> Tried {
    read_below(given.number("dirfd")?, c"../outside/canary")
}

fn inherited_file(given: &Given) -> Tried {
    read_number(given.number("filefd")?)
}

fn inherited_high(given: &Given) -> Tried {
    read_number(given.number("highfd")?)
}

fn magic(given: &Given) -> Tried {
    let number: i32 = given.number("filefd")?;
    append(format!("/proc/self/fd/{number}").as_ref())
}

/// Reads a file below a directory that is open under the number.
fn read_below(directory: i32, path: &std::ffi::CStr) -> Tried {
    let fd = owned(call!(libc::SYS_openat, directory, path, libc::O_RDONLY))?;
    let mut text = String::new();
    File::from(fd).read_to_string(&mut text)?;
    Ok(text.trim().to_owned())
}

/// Reads the start of the file that is open under the number.
fn read_number(number: i32) -> Tried {
    let mut bytes = [0; 64];
    let read = call!(libc::SYS_pread64, number, &mut bytes[..], 64, 0)?;
    let text = bytes.get(..usize::try_from(read).unwrap_or(0)).unwrap_or_default();
    if text.is_empty() {
        return Err(denied("the file is empty"));
    }
    Ok(String::from_utf8_lossy(text).trim().to_owned())
}
