//! Paths within what is visible that are read-only or hidden.
//!
//! A guarded path is covered by a mount of its own: a read-only copy of itself, or something empty
//! that nobody may open. A mount point can be neither removed nor renamed, but a parent of one can,
//! so the parents are covered by writable copies of themselves. What does not exist can't be
//! covered without leaving something on the host; the report says so.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, fstat};

use super::root::{Kind, NewRoot, attach, copy_of_mount};
use crate::plan::Guard;
use crate::sys::{Attribute, set_attributes};

/// Guards each path.
pub(super) fn apply(root: &NewRoot, guards: &[Guard]) -> io::Result<()> {
    if guards.is_empty() {
        return Ok(());
    }
    let covers = Covers::make(root)?;
    for parent in guards.iter().flat_map(|guard| &guard.parents) {
        if let Some(place) = root.find(parent)? {
            attach(copy_of_mount(place.as_fd(), is_directory(&place)?)?.as_fd(), place.as_fd())?;
        }
    }
    for guard in guards {
        if let Some(place) = root.find(&guard.path)? {
            let cover = covers.for_place(place.as_fd(), guard.hidden)?;
            attach(cover.as_fd(), place.as_fd())?;
        }
    }
    covers.remove_names(root)
}

/// Where the covers are until each is in its place.
const FILE: &CStr = c"/.cover-file";
const DIRECTORY: &CStr = c"/.cover-directory";

/// What is put over hidden paths: a file and a directory, both empty and without permissions.
struct Covers {
    file: OwnedFd,
    directory: OwnedFd,
}

impl Covers {
    /// Makes both.
    fn make(root: &NewRoot) -> io::Result<Self> {
        Ok(Self {
            file: root.point(FILE, Kind::File)?,
            directory: root.point(DIRECTORY, Kind::Directory)?,
        })
    }

    /// Takes every permission from both, and their names: what is mounted stays.
    fn remove_names(&self, root: &NewRoot) -> io::Result<()> {
        root.forbid_and_unlink(FILE, Kind::File)?;
        root.forbid_and_unlink(DIRECTORY, Kind::Directory)
    }

    /// A detached mount for one place.
    fn for_place(&self, place: BorrowedFd<'_>, hidden: bool) -> io::Result<OwnedFd> {
        let is_directory = is_directory(place)?;
        let source = match (hidden, is_directory) {
            (false, _) => place,
            (true, true) => self.directory.as_fd(),
            (true, false) => self.file.as_fd(),
        };
        let cover = copy_of_mount(source, is_directory)?;
        set_attributes(cover.as_fd(), &[Attribute::ReadOnly], is_directory)?;
        Ok(cover)
    }
}

/// Whether a descriptor names a directory.
fn is_directory(place: impl AsFd) -> io::Result<bool> {
    Ok(FileType::from_raw_mode(fstat(place)?.st_mode) == FileType::Directory)
}
