//! Looking a path up beneath a descriptor without `openat2`: one component at a time.
//!
//! Each name is looked up in the descriptor of its directory with `O_NOFOLLOW`, so the kernel never
//! follows a link for us. A link's text is read from the link's own descriptor and its components are
//! walked like the rest; one that begins with `/` leaves, which refuses magic links too, since theirs
//! do. `..` is never looked up: it goes back to the descriptor that we came from, and from the first
//! one there is no way back. So a rename in the middle can lead to an error or to what was beneath the
//! directory a moment ago, never past it.
//!
//! Answers with the errors that `openat2` gives, so that both ways read the same.

use std::{
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
};

use rustix::{
    fs::{Mode, OFlags, fstat, openat, readlinkat},
    io::{Errno, fcntl_dupfd_cloexec},
};

use super::{super::kind::Kind, linux::kind};

/// How many links one lookup follows: as many as the kernel does.
const MAX_LINKS: usize = 40;

/// How deep a path may lead. Every level holds a descriptor until the lookup is done.
const MAX_DEPTH: usize = 128;

/// The object that `path` names beneath `root`, with nothing opened.
pub(super) fn resolve(root: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let mut walk = Walk { root, dirs: Vec::new(), names: Vec::new(), links: 0 };
    walk.push_path(path.as_os_str().as_bytes())?;
    while let Some(name) = walk.names.pop() {
        if let Some(end) = walk.step(&name)? {
            return Ok(end);
        }
    }
    match walk.dirs.pop() {
        Some(dir) => Ok(dir),
        None => fcntl_dupfd_cloexec(root, 0),
    }
}

struct Walk<'a> {
    root: &'a OwnedFd,
    /// The directories entered, the innermost last.
    dirs: Vec<OwnedFd>,
    /// The components still to walk, the next one last.
    names: Vec<Vec<u8>>,
    links: usize,
}

impl Walk<'_> {
    fn current(&self) -> BorrowedFd<'_> {
        self.dirs.last().unwrap_or(self.root).as_fd()
    }

    /// Puts the components of a path before those still to walk.
    fn push_path(&mut self, path: &[u8]) -> Result<(), Errno> {
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        if path.starts_with(b"/") {
            return Err(Errno::XDEV);
        }
        if path.ends_with(b"/") {
            // What a trailing slash says: the last component is a directory.
            self.names.push(b".".to_vec());
        }
        let parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
        self.names.extend(parts.rev().map(<[u8]>::to_vec));
        Ok(())
    }

    /// Walks one component. `Some` when it was the last one and is no directory.
    fn step(&mut self, name: &[u8]) -> Result<Option<OwnedFd>, Errno> {
        match name {
            b"." => return Ok(None),
            b".." => return self.dirs.pop().map(|_| None).ok_or(Errno::XDEV),
            _ => {}
        }
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let object = openat(self.current(), name, flags, Mode::empty())?;
        match kind(&fstat(&object)?) {
            Kind::Dir if self.dirs.len() == MAX_DEPTH => Err(Errno::NAMETOOLONG),
            Kind::Dir => {
                self.dirs.push(object);
                Ok(None)
            }
            Kind::Symlink => self.follow(&object).map(|()| None),
            _ if self.names.is_empty() => Ok(Some(object)),
            _ => Err(Errno::NOTDIR),
        }
    }

    fn follow(&mut self, link: &OwnedFd) -> Result<(), Errno> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Errno::LOOP);
        }
        let target = readlinkat(link, "", Vec::new())?;
        self.push_path(target.as_bytes())
    }
}
