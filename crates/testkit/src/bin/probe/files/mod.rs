//! Attempts on files: reading and writing what lies outside, or is protected inside.
//!
//! They use `home` (a home directory with keys), `outside` (a directory with `canary` and
//! `target`), `ro` (one that is granted for reading, with `file`), `work` (the writable working
//! directory), `victim` (a process outside) and descriptors by number.

mod handles;
mod links;
mod protected;
mod read;
mod special;
mod write;

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use crate::attempt::{Attempt, Stop, Tried, denied};

/// The tables of this group.
pub(crate) const TABLES: &[&[Attempt]] = &[
    read::ATTEMPTS,
    write::ATTEMPTS,
    links::ATTEMPTS,
    handles::ATTEMPTS,
    special::ATTEMPTS,
    protected::ATTEMPTS,
];

/// What every planted or changed file says.
pub(crate) const MARK: &str = "written by the probe\n";

/// Reads a canary; its text is what was reached.
pub(crate) fn read_canary(path: &Path) -> Tried {
    Ok(fs::read_to_string(path)?.trim().to_owned())
}

/// Opens for reading and reads one byte, which is thrown away: for files whose content must not
/// be seen.
fn touch_secret(path: &Path) -> Tried {
    let mut byte = [0];
    let read = io::Read::read(&mut fs::File::open(path)?, &mut byte)?;
    Ok(format!("read {read} byte of {}", path.display()))
}

/// Opens the first of `paths` that can be opened for writing, and writes nothing.
fn open_to_write(paths: &[&str]) -> Tried {
    let mut last = denied("there is none of these files");
    for path in paths {
        match fs::OpenOptions::new().write(true).open(path) {
            Ok(_) => return Ok(format!("opened {path} for writing")),
            Err(error) => last = error.into(),
        }
    }
    Err(last)
}

/// Appends the mark to a file that may exist.
pub(crate) fn append(path: &Path) -> Tried {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(MARK.as_bytes())?;
    Ok(format!("wrote {}", path.display()))
}

/// Creates a file that must not exist.
fn create(path: &Path) -> Tried {
    let mut file = fs::File::create_new(path)?;
    file.write_all(MARK.as_bytes())?;
    Ok(format!("created {}", path.display()))
}

/// Creates a file and removes it again.
fn create_and_remove(path: &Path) -> Tried {
    let made = create(path)?;
    fs::remove_file(path)?;
    Ok(made)
}

/// Creates the directories above `path` and then the file.
fn plant(path: &Path) -> Tried {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    append(path)
}

/// The first result that reached something, or else the last refusal.
pub(crate) fn any(tries: impl IntoIterator<Item = Tried>) -> Tried {
    let mut last = denied("there is nothing to try it on");
    for tried in tries {
        match tried {
            Err(stop) => last = stop,
            Ok(reached) => return Ok(reached),
        }
    }
    Err::<String, Stop>(last)
}
