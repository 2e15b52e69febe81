//! The working directory of a session: the operator's, or a private one that goes with the session.
//!
//! A private directory is locked for as long as its program lives. One that nobody has locked was left
//! behind by a program that was killed; the next program of the same user deletes it.

use std::{
    fs::{self, Permissions},
    io,
    os::{
        fd::OwnedFd,
        unix::fs::{MetadataExt, PermissionsExt},
    },
    path::{Path, PathBuf},
    sync::Once,
};

use rustix::fs::{FlockOperation, Mode, OFlags};
use tempfile::TempDir;

const PREFIX: &str = "remit-session-";
/// How often a directory is made anew that another program took for one that was left behind.
const TRIES: usize = 8;

/// A working directory.
#[derive(Debug)]
pub(crate) enum Folder {
    /// The operator's; left alone.
    Given(PathBuf),
    /// The session's own, and its lock.
    Private(TempDir, OwnedFd),
}

impl Folder {
    pub(super) fn given(path: PathBuf) -> Self {
        Self::Given(path)
    }

    /// Makes a directory that only this user can enter.
    pub(crate) fn private() -> io::Result<Self> {
        static SWEPT: Once = Once::new();
        for _ in 0..TRIES {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
            if let Some(lock) = lock(folder.path()) {
                SWEPT.call_once(|| sweep(folder.path()));
                return Ok(Self::Private(folder, lock));
            }
        }
        Err(io::Error::other("every directory was taken away as soon as it was made"))
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Given(path) => path,
            Self::Private(folder, _) => folder.path(),
        }
    }

    pub(super) fn is_private(&self) -> bool {
        matches!(self, Self::Private(..))
    }

    /// Deletes a private directory. Nothing of the session may run any more.
    pub(crate) fn remove(self) -> io::Result<()> {
        match self {
            Self::Given(_) => Ok(()),
            Self::Private(folder, _locked_until_then) => delete(&folder.keep()),
        }
    }
}

/// Locks a directory that is still there under its name.
fn lock(folder: &Path) -> Option<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let opened = rustix::fs::open(folder, flags, Mode::empty()).ok()?;
    rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive).ok()?;
    let (is, was) = (fs::symlink_metadata(folder).ok()?, rustix::fs::fstat(&opened).ok()?);
    (is.ino() == was.st_ino && is.dev() == was.st_dev).then_some(opened)
}

/// Deletes what was left behind beside a directory of ours.
fn sweep(ours: &Path) {
    let (Some(parent), Ok(own)) = (ours.parent(), fs::symlink_metadata(ours)) else { return };
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_like_ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == own.uid());
        if is_like_ours && let Some(_nobody_else_has_it) = lock(&entry.path()) {
            // What can't be deleted now is tried by the next program.
            let _ = delete(&entry.path());
        }
    }
}

fn delete(folder: &Path) -> io::Result<()> {
    fs::remove_dir_all(folder).or_else(|_| {
        open_up(folder)?;
        fs::remove_dir_all(folder)
    })
}

/// Lets us into directories that the session closed. Links are not followed.
fn open_up(folder: &Path) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_folder_goes_also_where_its_session_closed_it() {
        let folder = Folder::private().unwrap();
        let path = folder.path().to_owned();
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::write(path.join("a/b/c"), "x").unwrap();
        fs::set_permissions(path.join("a/b"), Permissions::from_mode(0o000)).unwrap();
        folder.remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_program_left_behind_is_deleted_and_what_is_in_use_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = parent.path().join(name);
            fs::create_dir_all(path.join("inner")).unwrap();
            path
        };
        let (ours, left) = (make("remit-session-ours"), make("remit-session-left"));
        let (used, other) = (make("remit-session-used"), make("something-else"));
        let locks = (lock(&ours).unwrap(), lock(&used).unwrap());
        std::os::unix::fs::symlink(&other, parent.path().join("remit-session-link")).unwrap();
        sweep(&ours);
        assert!(!left.exists());
        assert!(used.exists() && ours.exists() && other.join("inner").exists());
        drop(locks);
    }

    #[test]
    fn the_operators_folder_is_left_alone() {
        let operators = tempfile::tempdir().unwrap();
        Folder::given(operators.path().to_owned()).remove().unwrap();
        assert!(operators.path().exists());
    }
}
