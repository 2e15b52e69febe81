//! The files of a session on this machine, by a descriptor of its directory.
//!
//! A file is put under a name of its own first and renamed when it is whole: a link or a FIFO of the
//! name is never written through, other names of a file that is replaced keep what they had, and
//! nobody sees half of it. A host that is killed in that moment leaves a file `.remit-put-…`.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, RenameFlags, openat, renameat, renameat_with, unlinkat},
    io::Errno,
};

use super::{
    beneath::{Owner, PlainPath},
    changes::{Top, Watched},
    observed::Observed,
};
use crate::{FileChanges, FileError, FilePart, Files};

/// How much of what the host would run later is told after a call.
const MAX_TOLD: usize = 20;

/// What may be done to a directory from outside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The session's own: everything.
    Private,
    /// The operator's, and may be written: nothing that the host could obey.
    Shared,
    /// The operator's, and may only be read.
    ReadOnly,
}

/// The files of one place.
#[derive(Debug)]
pub(crate) struct LocalFiles {
    root: OwnedFd,
    path: PathBuf,
    reach: Reach,
    watched: Watched,
    /// Where the directory outlives the session and may be written.
    observed: Option<Observed>,
    /// Whose files are that are put, where not this program's user's.
    owner: Option<Owner>,
}

impl LocalFiles {
    pub(crate) fn new(path: &Path, reach: Reach, observed: Option<Observed>) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // The session knows its directory by its name without links.
        let path = path.canonicalize()?;
        let root = rustix::fs::open(&path, flags, Mode::empty())?;
        let watched = Watched::new(Top::Path(path.clone()), reach);
        Ok(Self { root, path, reach, watched, observed, owner: None })
    }

    /// The same where files that are put belong to somebody else.
    pub(crate) fn owned_by(self, owner: Owner) -> Self {
        Self { owner: Some(owner), ..self }
    }

    pub(crate) fn observed(&self) -> Option<&Observed> {
        self.observed.as_ref()
    }

    fn check_reach(&self, path: &PlainPath, given: &str) -> Result<(), FileError> {
        match self.reach {
            Reach::Private => Ok(()),
            Reach::ReadOnly => Err(FileError::ReadOnly),
            Reach::Shared if path.has_hidden_name() => {
                Err(FileError::Protected { path: given.to_owned() })
            }
            Reach::Shared => Ok(()),
        }
    }
}

impl Files for LocalFiles {
    fn put(&self, given: &str, content: &[u8], overwrite: bool) -> Result<(), FileError> {
        let path = PlainPath::new(given, &self.path)?;
        self.check_reach(&path, given)?;
        if self.observed.as_ref().is_some_and(|observed| observed.protects(path.as_path())) {
            return Err(FileError::Protected { path: given.to_owned() });
        }
        let parent = path.open_parent(&self.root, true, self.owner)?;
        let mode = match path.look(&parent)? {
            None => Mode::from(0o644),
            Some(found) => {
                path.check_kind(&found)?;
                if !overwrite {
                    return Err(path.error(Errno::EXIST));
                }
                Mode::from(found.st_mode & 0o777)
            }
        };
        let draft = Draft::write(&parent, mode, content, self.owner)
            .map_err(|source| FileError::Io { path: given.to_owned(), source })?;
        draft.rename_to(&path, overwrite).map_err(|errno| path.error(errno))
    }

    fn get(&self, given: &str, offset: u64, limit: usize) -> Result<FilePart, FileError> {
        let (mut file, size) = PlainPath::new(given, &self.path)?.open_file(&self.root)?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.take(limit as u64).read_to_end(&mut bytes))
            .map_err(|source| FileError::Io { path: given.to_owned(), source })?;
        Ok(FilePart { bytes, size })
    }

    fn begin(&self) {
        self.watched.begin();
        if let Some(observed) = &self.observed {
            observed.begin();
        }
    }

    fn look(&self) -> FileChanges {
        let mut changes = self.watched.look();
        if let Some(report) = self.observed.as_ref().and_then(Observed::since_last_call) {
            let found = report.executable_configuration.len();
            changes.executable_configuration = report.summary(MAX_TOLD).executable_configuration;
            changes.executable_left_out = found.saturating_sub(MAX_TOLD) as u64;
        }
        changes
    }

    fn measure(&self) -> Option<u64> {
        self.watched.measure()
    }

    fn is_small(&self) -> bool {
        self.watched.is_small()
    }
}

/// A file under a name of its own; dropping it deletes it.
struct Draft<'a> {
    parent: &'a OwnedFd,
    name: String,
}

impl<'a> Draft<'a> {
    fn write(
        parent: &'a OwnedFd,
        mode: Mode,
        content: &[u8],
        owner: Option<Owner>,
    ) -> io::Result<Self> {
        let mut random = [0_u8; 8];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        let name = format!(".remit-put-{:016x}", u64::from_ne_bytes(random));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let file = openat(parent, &name, flags | OFlags::CLOEXEC, mode | Mode::WUSR)?;
        let draft = Self { parent, name };
        if let Some(owner) = owner {
            owner.take_over(parent, OsStr::new(&draft.name))?;
        }
        let mut file = File::from(file);
        file.write_all(content)?;
        rustix::fs::fchmod(&file, mode)?;
        Ok(draft)
    }

    fn rename_to(self, path: &PlainPath, overwrite: bool) -> Result<(), Errno> {
        let (parent, name) = (self.parent, path.name());
        if overwrite {
            renameat(parent, &self.name, parent, name)
        } else {
            renameat_with(parent, &self.name, parent, name, RenameFlags::NOREPLACE)
        }
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // Once it is renamed there is nothing of this name.
        let _ = unlinkat(self.parent, &self.name, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
    };

    use super::*;

    fn files(reach: Reach) -> (tempfile::TempDir, LocalFiles) {
        let folder = tempfile::tempdir().unwrap();
        let files = LocalFiles::new(folder.path(), reach, None).unwrap();
        (folder, files)
    }

    fn names(folder: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_put_is_got() {
        let (folder, files) = files(Reach::Private);
        files.put("a/b/c.bin", b"0123456789", false).unwrap();
        let part = files.get("a/b/c.bin", 3, 4).unwrap();
        assert_eq!((part.bytes.as_slice(), part.size), (&b"3456"[..], 10));
        assert_eq!(files.get("a/b/c.bin", 11, 4).unwrap().bytes, b"");
        let absolute = folder.path().join("a/b/c.bin");
        assert_eq!(files.get(absolute.to_str().unwrap(), 0, 99).unwrap().bytes, b"0123456789");
        assert!(matches!(files.get("a/none", 0, 1), Err(FileError::NotFound { .. })));
    }

    #[test]
    fn a_file_is_replaced_only_where_it_is_said_and_then_as_a_whole() {
        let (folder, files) = files(Reach::Private);
        let path = folder.path().join("f");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        fs::hard_link(&path, folder.path().join("other")).unwrap();
        assert!(matches!(files.put("f", b"new", false), Err(FileError::Exists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        files.put("f", b"new", true).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read(folder.path().join("other")).unwrap(), b"old");
        assert_eq!(names(&folder), ["f", "other"], "no draft is left");
    }

    #[test]
    fn no_link_is_followed_in_either_direction() {
        let (folder, files) = files(Reach::Private);
        let outside = tempfile::tempdir().unwrap();
        let canary = outside.path().join("canary");
        fs::write(&canary, "secret").unwrap();
        symlink(&canary, folder.path().join("file")).unwrap();
        symlink(outside.path(), folder.path().join("way")).unwrap();
        symlink("/proc/self/fd", folder.path().join("magic")).unwrap();
        for path in ["file", "way/canary", "way/new", "magic/0"] {
            assert!(matches!(files.get(path, 0, 99), Err(FileError::Kind { .. })), "{path}");
            for overwrite in [false, true] {
                let put = files.put(path, b"x", overwrite);
                assert!(matches!(put, Err(FileError::Kind { .. })), "{path}: {put:?}");
            }
        }
        assert_eq!(fs::read(&canary).unwrap(), b"secret");
        assert_eq!(names(&outside), ["canary"]);
    }

    #[test]
    fn what_is_no_regular_file_is_named_and_never_waited_for() {
        let (folder, files) = files(Reach::Private);
        fs::create_dir(folder.path().join("dir")).unwrap();
        let fifo = folder.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, Mode::from(0o600)).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("sock")).unwrap();
        for (path, expected) in [("dir", "a directory"), ("fifo", "a FIFO"), ("sock", "a socket")] {
            let errors =
                [files.get(path, 0, 9).unwrap_err(), files.put(path, b"", true).unwrap_err()];
            for error in errors {
                assert!(error.to_string().contains(expected), "{error}");
            }
        }
    }

    #[test]
    fn the_operators_directory_is_as_writable_as_it_says() {
        let (folder, read_only) = files(Reach::ReadOnly);
        fs::write(folder.path().join("f"), "text").unwrap();
        assert!(matches!(read_only.put("new", b"", false), Err(FileError::ReadOnly)));
        assert_eq!(read_only.get("f", 0, 9).unwrap().bytes, b"text");
        let (folder, shared) = files(Reach::Shared);
        shared.put("src/new", b"", false).unwrap();
        for path in [".git/hooks/pre-commit", ".envrc", "sub/.vscode/tasks.json"] {
            assert!(matches!(shared.put(path, b"", false), Err(FileError::Protected { .. })));
        }
        assert_eq!(names(&folder), ["src"]);
    }
}
