//! Opening what a path names in a session's directory, whatever the session made of the directory.
//!
//! A path is a list of plain names, and each is looked up in the directory before it, through its
//! descriptor and without following a link. Without `..` and links nothing leads out, on any kernel,
//! also where names are swapped meanwhile. A file is opened so that nothing is waited for and no
//! terminal is taken, and is looked at again once it is open.

use std::{
    ffi::OsStr,
    fs::File,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, chownat, fstat, mkdirat, openat, statat,
    },
    io::Errno,
};

use crate::FileError;

/// The most names that a path may have.
const MAX_DEPTH: usize = 64;
pub(crate) const ON_THE_WAY: &str = "behind a link, or behind something else that is no directory";

/// The user and the group whose files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

impl Owner {
    /// Gives it what has a name in a directory.
    pub(super) fn take_over(self, at: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
        let (user, group) = (Uid::from_raw(self.user), Gid::from_raw(self.group));
        chownat(at, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)
    }
}

/// A path below a directory: plain names.
#[derive(Debug, Clone)]
pub(crate) struct PlainPath {
    /// As it was given.
    given: String,
    path: PathBuf,
}

impl PlainPath {
    /// Reads a path, relative to `root` or beginning with it.
    pub(crate) fn new(given: &str, root: &Path) -> Result<Self, FileError> {
        let refuse = |why| FileError::Path { path: tool_core::clip(given, 256).to_owned(), why };
        let below = Path::new(given);
        let below = if below.is_absolute() {
            below.strip_prefix(root).map_err(|_| refuse("it is absolute, and leads elsewhere"))?
        } else {
            below
        };
        let mut path = PathBuf::new();
        for part in below.components() {
            match part {
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
                _ => return Err(refuse("it has \"..\" in it")),
            }
        }
        match path.components().count() {
            0 => Err(refuse("it names no file")),
            1..=MAX_DEPTH if !given.contains('\0') => Ok(Self { given: given.to_owned(), path }),
            1..=MAX_DEPTH => Err(refuse("it has a NUL byte in it")),
            _ => Err(refuse("it has too many names")),
        }
    }

    /// The names, relative to the directory.
    pub(crate) fn as_path(&self) -> &Path {
        &self.path
    }

    /// Whether a name in it begins with a dot.
    pub(super) fn has_hidden_name(&self) -> bool {
        self.path.iter().any(|name| name.as_bytes().starts_with(b"."))
    }

    pub(super) fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// Opens the directory that the last name is in; makes those that are missing where `make` says,
    /// for `owner` where it is another than this program's user.
    pub(super) fn open_parent(
        &self,
        root: impl AsFd,
        make: bool,
        owner: Option<Owner>,
    ) -> Result<OwnedFd, FileError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = |at: &OwnedFd, name: &OsStr| openat(at, name, flags, Mode::empty());
        let root = root.as_fd().try_clone_to_owned();
        let mut at = root.map_err(|source| FileError::Io { path: self.given.clone(), source })?;
        for name in self.path.parent().into_iter().flatten() {
            let opened = match open(&at, name) {
                Err(Errno::NOENT) if make => match mkdirat(&at, name, Mode::from(0o755)) {
                    Ok(()) => owner
                        .map_or(Ok(()), |owner| owner.take_over(&at, name))
                        .and_then(|()| open(&at, name)),
                    Err(Errno::EXIST) => open(&at, name),
                    Err(errno) => Err(errno),
                },
                opened => opened,
            };
            at = opened.map_err(|errno| self.error(errno))?;
        }
        Ok(at)
    }

    /// What has the last name, if anything has.
    pub(super) fn look(&self, parent: &OwnedFd) -> Result<Option<Stat>, FileError> {
        match statat(parent, self.name(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.error(errno)),
        }
    }

    /// Opens a regular file for reading; gives its size too.
    pub(super) fn open_file(&self, root: impl AsFd) -> Result<(File, u64), FileError> {
        let parent = self.open_parent(root, false, None)?;
        let found = self.look(&parent)?;
        self.check_kind(&found.ok_or_else(|| self.error(Errno::NOENT))?)?;
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = openat(&parent, self.name(), flags, Mode::empty());
        let file = file.map_err(|errno| self.error(errno))?;
        let opened = fstat(&file).map_err(|errno| self.error(errno))?;
        self.check_kind(&opened)?;
        Ok((File::from(file), u64::try_from(opened.st_size).unwrap_or(0)))
    }

    /// Only a regular file will do.
    pub(super) fn check_kind(&self, found: &Stat) -> Result<(), FileError> {
        let what = match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => return Ok(()),
            FileType::Directory => "a directory",
            FileType::Symlink => "a symbolic link",
            FileType::Fifo => "a FIFO",
            FileType::Socket => "a socket",
            _ => "a device",
        };
        Err(FileError::Kind { path: self.given.clone(), what })
    }

    /// What an answer of the kernel means for this path.
    pub(crate) fn error(&self, errno: Errno) -> FileError {
        let path = self.given.clone();
        match errno {
            Errno::NOENT => FileError::NotFound { path },
            Errno::NOTDIR | Errno::LOOP => FileError::Kind { path, what: ON_THE_WAY },
            Errno::EXIST => FileError::Exists { path },
            errno => FileError::Io { path, source: errno.into() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_below_the_directory_are_paths() {
        let root = Path::new("/tmp/session");
        for (given, plain) in
            [("a", "a"), ("./a//b/", "a/b"), ("/tmp/session/a/b", "a/b"), ("..a", "..a")]
        {
            assert_eq!(PlainPath::new(given, root).unwrap().path, Path::new(plain), "{given}");
        }
        let deep = "d/".repeat(MAX_DEPTH + 1);
        for given in [
            "",
            ".",
            "/",
            "..",
            "a/../b",
            "/etc/passwd",
            "/tmp/session",
            "/tmp/sessions/a",
            "a\0b",
            &deep,
        ] {
            let error = PlainPath::new(given, root).unwrap_err();
            assert!(matches!(error, FileError::Path { .. }), "{given}");
        }
    }
}
