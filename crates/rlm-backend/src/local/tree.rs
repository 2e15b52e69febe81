//! Copying a directory and emptying one, by descriptors and through no link, whatever a session does
//! in it meanwhile.
//!
//! Files, directories and symbolic links are copied, with their modes and the times of their last
//! change; links as they are, files that have several names as several files. Sockets, FIFOs and
//! devices are left out and counted.

use std::{
    ffi::CStr,
    fs::File,
    io::{self, Read},
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{
        AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, fchmod, fstat, futimens,
        mkdirat, openat, readlinkat, statat, symlinkat, unlinkat,
    },
    io::Errno,
};

/// How deep directories may lie in each other.
const MAX_DEPTH: usize = 64;

/// How much may be copied, and how much was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copied {
    pub(super) max_bytes: u64,
    pub(super) max_files: u64,
    pub(super) bytes: u64,
    pub(super) files: u64,
    pub(super) left_out: u64,
}

/// Why a copy is not whole.
#[derive(Debug)]
pub(super) enum CopyError {
    TooLarge,
    Io(io::Error),
}

impl<E: Into<io::Error>> From<E> for CopyError {
    fn from(error: E) -> Self {
        Self::Io(error.into())
    }
}

impl Copied {
    pub(super) fn nothing(max_bytes: u64, max_files: u64) -> Self {
        Self { max_bytes, max_files, bytes: 0, files: 0, left_out: 0 }
    }

    /// Copies what is in one directory into another, which is empty.
    pub(super) fn copy(&mut self, from: impl AsFd, to: impl AsFd) -> Result<(), CopyError> {
        self.directory(&from.as_fd().try_clone_to_owned()?, &to.as_fd().try_clone_to_owned()?, 0)
    }

    fn directory(&mut self, from: &OwnedFd, to: &OwnedFd, depth: usize) -> Result<(), CopyError> {
        if depth > MAX_DEPTH {
            return Err(CopyError::TooLarge);
        }
        for entry in names(from)? {
            let name = entry.as_c_str();
            let found = match statat(from, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                found => found?,
            };
            self.files += 1;
            if self.files > self.max_files {
                return Err(CopyError::TooLarge);
            }
            match FileType::from_raw_mode(found.st_mode) {
                FileType::RegularFile => self.file(from, to, name)?,
                FileType::Directory => {
                    mkdirat(to, name, Mode::RWXU)?;
                    let (inner, copy) = (open_directory(from, name)?, open_directory(to, name)?);
                    self.directory(&inner, &copy, depth + 1)?;
                    finish(&copy, &found)?;
                }
                FileType::Symlink => symlinkat(readlinkat(from, name, Vec::new())?, to, name)?,
                _ => self.left_out += 1,
            }
        }
        Ok(())
    }

    fn file(&mut self, from: &OwnedFd, to: &OwnedFd, name: &CStr) -> Result<(), CopyError> {
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let source = openat(from, name, OFlags::RDONLY | flags, Mode::empty())?;
        let found = fstat(&source)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            self.left_out += 1;
            return Ok(());
        }
        let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mut target = File::from(openat(to, name, new | flags, Mode::RUSR | Mode::WUSR)?);
        let room = self.max_bytes - self.bytes;
        self.bytes += io::copy(&mut File::from(source).take(room + 1), &mut target)?;
        if self.bytes > self.max_bytes {
            return Err(CopyError::TooLarge);
        }
        finish(&target, &found)?;
        Ok(())
    }
}

/// Deletes what is in a directory.
pub(super) fn empty(directory: impl AsFd) -> io::Result<()> {
    empty_below(&directory.as_fd().try_clone_to_owned()?, 0)
}

fn empty_below(directory: &OwnedFd, depth: usize) -> io::Result<()> {
    if depth > MAX_DEPTH {
        return Err(io::Error::other("directories lie too deep in each other"));
    }
    for name in names(directory)? {
        match unlinkat(directory, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::ISDIR | Errno::PERM) => {
                let inner = open_directory(directory, &name)?;
                empty_below(&inner, depth + 1)?;
                unlinkat(directory, &name, AtFlags::REMOVEDIR)?;
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// The names in a directory. They are read to the end first, so that what is done to them does not
/// change what is read.
fn names(directory: &OwnedFd) -> io::Result<Vec<std::ffi::CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

fn open_directory(at: &OwnedFd, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(at, name, flags, Mode::empty())?)
}

/// Gives a copy the mode and the time of what it is of.
fn finish(copy: impl AsFd, of: &Stat) -> io::Result<()> {
    fchmod(&copy, Mode::from(of.st_mode & 0o777))?;
    let time = Timespec { tv_sec: of.st_mtime, tv_nsec: nanoseconds(of) };
    futimens(&copy, &Timestamps { last_access: time, last_modification: time })?;
    Ok(())
}

/// The part of a second of the last change; the type differs from machine to machine.
fn nanoseconds(of: &Stat) -> i64 {
    i64::try_from(of.st_mtime_nsec).unwrap_or(0)
}
