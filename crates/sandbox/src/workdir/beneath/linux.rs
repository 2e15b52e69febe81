//! Opening beneath a descriptor on Linux.
//!
//! Two steps, so that nothing is ever opened that should not be: the path is resolved to an object
//! with `O_PATH`, which opens nothing (no device is woken, no FIFO waited for); then, if the object
//! has the right type, that very object is opened, through its descriptor and not by its name again.
//!
//! Sources: openat2(2), open(2) (`O_PATH`), proc(5) (`/proc/thread-self/fd`).

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2,
        statat,
    },
    io::Errno,
};

use super::{
    super::{dir::Resolution, error::OpenError, kind::Kind},
    steps,
};

const NO_MODE: Mode = Mode::empty();

/// How often a lookup is tried again when the kernel saw a rename in the middle of it.
const MAX_TRIES: u32 = 64;

/// The directory that everything lies beneath.
#[derive(Debug)]
pub(in crate::workdir) struct Root {
    fd: OwnedFd,
    resolution: Resolution,
}

impl Root {
    pub(in crate::workdir) fn open(path: &Path, by: Option<Resolution>) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = openat(CWD, path, flags, NO_MODE)?;
        // With O_PATH a directory can be opened that may not be entered; a look from inside tells.
        statat(&fd, ".", AtFlags::empty())?;
        let resolution = by.unwrap_or_else(|| detect(&fd));
        Ok(Self { fd, resolution })
    }

    pub(in crate::workdir) fn resolution(&self) -> Resolution {
        self.resolution
    }

    pub(in crate::workdir) fn open_file(&self, path: &Path) -> Result<(File, u64), OpenError> {
        let object = self.resolve(path)?;
        let found = fstat(&object)?;
        match kind(&found) {
            Kind::File => {}
            other => return Err(OpenError::NotAFile(other)),
        }
        let file = reopen(&object, &found)?;
        Ok((File::from(file), size(&found)))
    }

    pub(in crate::workdir) fn open_dir(&self, path: &Path) -> Result<DirReader, OpenError> {
        let object = self.resolve(path)?;
        // O_DIRECTORY is checked before anything is opened, and "." is the object itself.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = openat(&object, ".", flags, NO_MODE)?;
        Ok(DirReader { dir: Dir::new(fd)? })
    }

    /// The object that `path` names beneath this directory, with nothing opened.
    fn resolve(&self, path: &Path) -> Result<OwnedFd, Errno> {
        match self.resolution {
            Resolution::Kernel => resolve_by_kernel(&self.fd, path),
            Resolution::Steps => steps::resolve(&self.fd, path),
        }
    }
}

fn detect(fd: &OwnedFd) -> Resolution {
    resolution_for(resolve_by_kernel(fd, Path::new(".")).err())
}

/// The way to go after what `openat2` answered. Old kernels say ENOSYS, some containers' filters say
/// EPERM; any other error is about the directory.
fn resolution_for(error: Option<Errno>) -> Resolution {
    match error {
        Some(Errno::NOSYS | Errno::PERM) => Resolution::Steps,
        _ => Resolution::Kernel,
    }
}

fn resolve_by_kernel(root: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..MAX_TRIES {
        // EAGAIN: something was renamed while ".." was looked up, so the kernel can't vouch for it.
        match openat2(root, path, flags, NO_MODE, resolve) {
            Err(Errno::AGAIN) => {}
            answer => return answer,
        }
    }
    Err(Errno::AGAIN)
}

/// Opens for reading the object that a descriptor stands for: the same inode, whatever its name
/// leads to by now.
fn reopen(object: &OwnedFd, found: &Stat) -> Result<OwnedFd, OpenError> {
    let path = format!("/proc/thread-self/fd/{}", object.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, NO_MODE).map_err(|errno| match errno {
        Errno::NOENT => OpenError::Unavailable("reading files needs /proc to be mounted"),
        errno => errno.into(),
    })?;
    let opened = fstat(&file)?;
    if (opened.st_dev, opened.st_ino) != (found.st_dev, found.st_ino) {
        return Err(OpenError::Unavailable("what is mounted at /proc is not procfs"));
    }
    Ok(file)
}

/// The entries of one directory.
#[derive(Debug)]
pub(in crate::workdir) struct DirReader {
    dir: Dir,
}

impl DirReader {
    /// The next name, in the order of the file system, without `.` and `..`.
    pub(in crate::workdir) fn next_name(&mut self) -> Option<Result<OsString, OpenError>> {
        loop {
            let entry = match self.dir.read()? {
                Ok(entry) => entry,
                Err(errno) => return Some(Err(errno.into())),
            };
            match entry.file_name().to_bytes() {
                b"." | b".." => {}
                name => return Some(Ok(OsStr::from_bytes(name).to_owned())),
            }
        }
    }

    /// What the entry of that name is, and its size in bytes. Links are not followed.
    pub(in crate::workdir) fn describe(&self, name: &OsStr) -> Result<(Kind, u64), OpenError> {
        let stat = statat(self.dir.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok((kind(&stat), size(&stat)))
    }
}

pub(super) fn kind(stat: &Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Dir,
        FileType::Symlink => Kind::Symlink,
        FileType::Fifo => Kind::Fifo,
        FileType::Socket => Kind::Socket,
        FileType::CharacterDevice | FileType::BlockDevice => Kind::Device,
        _ => Kind::Unknown,
    }
}

fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

impl From<Errno> for OpenError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::XDEV => Self::Leaves,
            Errno::NOENT => Self::NotFound,
            Errno::NOTDIR => Self::NotADirectory,
            Errno::LOOP => Self::Links,
            Errno::NAMETOOLONG => Self::NameTooLong,
            Errno::ACCESS | Errno::PERM => Self::Denied,
            Errno::AGAIN => Self::Changing,
            errno => Self::Io(errno.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_kernel_does_not_offer_the_lookup_it_is_made_in_steps() {
        assert_eq!(resolution_for(Some(Errno::NOSYS)), Resolution::Steps);
        assert_eq!(resolution_for(Some(Errno::PERM)), Resolution::Steps);
        assert_eq!(resolution_for(Some(Errno::ACCESS)), Resolution::Kernel);
        assert_eq!(resolution_for(None), Resolution::Kernel);
    }
}
