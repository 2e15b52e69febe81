//! Snapshots of a session's private directory: each a private directory of its own, which the session
//! does not see, and which goes with the session.
//!
//! There are at most ten, and together they hold as many bytes as the session's directory may. An
//! operator's directory has none: putting it back would undo what others did there.

use std::{
    os::fd::OwnedFd,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use rustix::fs::{Mode, OFlags};

use super::{
    folder::Folder,
    tree::{self, Copied, CopyError},
};
use crate::{Snapshot, SnapshotError, Snapshots};

/// The most snapshots of a session.
const MAX_SNAPSHOTS: usize = 10;
/// The most files and directories of one.
const MAX_FILES: u64 = 20_000;

/// The snapshots of one private directory.
#[derive(Debug)]
pub(super) struct LocalSnapshots {
    directory: OwnedFd,
    max_bytes: u64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    snapshots: Vec<(Snapshot, Folder)>,
    /// How many were ever made, so that no id comes twice.
    made: u64,
}

impl LocalSnapshots {
    /// Snapshots of a directory, which together hold at most so many bytes.
    pub(super) fn new(folder: &Folder, max_bytes: u64) -> std::io::Result<Self> {
        Ok(Self { directory: open(folder)?, max_bytes, kept: Mutex::default() })
    }

    /// Deletes all of them.
    pub(super) fn clear(&self) -> std::io::Result<()> {
        let all = std::mem::take(&mut self.kept().snapshots);
        all.into_iter().map(|(_, folder)| folder.remove()).fold(Ok(()), Result::and)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn too_large(&self) -> SnapshotError {
        SnapshotError::TooLarge { max_bytes: self.max_bytes, max_files: MAX_FILES }
    }
}

impl Snapshots for LocalSnapshots {
    fn create(&self) -> Result<Snapshot, SnapshotError> {
        let mut kept = self.kept();
        if kept.snapshots.len() >= MAX_SNAPSHOTS {
            return Err(SnapshotError::TooMany { max: MAX_SNAPSHOTS });
        }
        let held: u64 = kept.snapshots.iter().map(|(snapshot, _)| snapshot.bytes).sum();
        let failed = |source| SnapshotError::Io { what: "the files can't be kept", source };
        let folder = Folder::private().map_err(failed)?;
        let mut copied = Copied::nothing(self.max_bytes.saturating_sub(held), MAX_FILES);
        let copy = open(&folder).map_err(CopyError::from);
        let copy = copy.and_then(|to| copied.copy(&self.directory, to));
        copy.map_err(|error| match error {
            CopyError::TooLarge => self.too_large(),
            CopyError::Io(source) => failed(source),
        })?;
        kept.made += 1;
        let Copied { bytes, files, left_out, .. } = copied;
        let id = format!("s{}", kept.made);
        let snapshot = Snapshot { id, files, bytes, left_out, made: Instant::now() };
        kept.snapshots.push((snapshot.clone(), folder));
        Ok(snapshot)
    }

    fn restore(&self, id: &str) -> Result<Snapshot, SnapshotError> {
        let kept = self.kept();
        let found = kept.snapshots.iter().find(|(snapshot, _)| snapshot.id == id);
        let (snapshot, folder) =
            found.ok_or_else(|| SnapshotError::Unknown { id: id.to_owned() })?;
        let failed = |source| SnapshotError::Io { what: "the files can't be put back", source };
        let from = open(folder).map_err(failed)?;
        tree::empty(&self.directory).map_err(failed)?;
        let mut copied = Copied::nothing(self.max_bytes, MAX_FILES);
        copied.copy(from, &self.directory).map_err(|error| match error {
            CopyError::TooLarge => self.too_large(),
            CopyError::Io(source) => failed(source),
        })?;
        Ok(snapshot.clone())
    }

    fn list(&self) -> Vec<Snapshot> {
        self.kept().snapshots.iter().map(|(snapshot, _)| snapshot.clone()).collect()
    }

    fn delete(&self, id: &str) -> Result<(), SnapshotError> {
        let mut kept = self.kept();
        let place = kept.snapshots.iter().position(|(snapshot, _)| snapshot.id == id);
        let place = place.ok_or_else(|| SnapshotError::Unknown { id: id.to_owned() })?;
        let (_, folder) = kept.snapshots.remove(place);
        let removed = folder.remove();
        removed.map_err(|source| SnapshotError::Io { what: "it can't be deleted", source })
    }
}

fn open(folder: &Folder) -> std::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder.path(), flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
        path::PathBuf,
    };

    use super::*;

    fn snapshots(max_bytes: u64) -> (Folder, PathBuf, LocalSnapshots) {
        let folder = Folder::private().unwrap();
        let (path, snapshots) =
            (folder.path().to_owned(), LocalSnapshots::new(&folder, max_bytes).unwrap());
        (folder, path, snapshots)
    }

    #[test]
    fn everything_is_put_back_as_it_was() {
        let (_folder, path, snapshots) = snapshots(1000);
        fs::create_dir_all(path.join("d/e")).unwrap();
        fs::write(path.join("d/e/f"), "old").unwrap();
        fs::set_permissions(path.join("d/e/f"), fs::Permissions::from_mode(0o751)).unwrap();
        symlink("/etc/hostname", path.join("link")).unwrap();
        let was = fs::metadata(path.join("d/e/f")).unwrap();
        let made = snapshots.create().unwrap();
        assert_eq!((made.files, made.bytes, made.left_out), (4, 3, 0));

        fs::write(path.join("d/e/f"), "new and longer").unwrap();
        fs::remove_file(path.join("link")).unwrap();
        fs::create_dir_all(path.join("more/and/more")).unwrap();
        fs::write(path.join("more/x"), "x").unwrap();
        snapshots.restore(&made.id).unwrap();
        assert_eq!(fs::read_to_string(path.join("d/e/f")).unwrap(), "old");
        let is = fs::metadata(path.join("d/e/f")).unwrap();
        assert_eq!(is.permissions(), was.permissions());
        assert_eq!(is.modified().unwrap(), was.modified().unwrap());
        assert_eq!(fs::read_link(path.join("link")).unwrap(), PathBuf::from("/etc/hostname"));
        assert!(!path.join("more").exists());
    }

    #[test]
    fn the_number_goes_down_when_one_is_deleted_and_no_id_comes_twice() {
        let (_folder, _, snapshots) = snapshots(1000);
        let ids: Vec<_> = (0..MAX_SNAPSHOTS).map(|_| snapshots.create().unwrap().id).collect();
        assert!(matches!(snapshots.create(), Err(SnapshotError::TooMany { .. })));
        snapshots.delete(&ids[3]).unwrap();
        assert!(matches!(snapshots.delete(&ids[3]), Err(SnapshotError::Unknown { .. })));
        assert!(matches!(snapshots.restore(&ids[3]), Err(SnapshotError::Unknown { .. })));
        assert_eq!(snapshots.list().len(), MAX_SNAPSHOTS - 1);
        assert!(!ids.contains(&snapshots.create().unwrap().id));
    }

    #[test]
    fn all_together_are_bounded_and_what_does_not_fit_leaves_nothing() {
        let (_folder, path, snapshots) = snapshots(1000);
        fs::write(path.join("f"), vec![0; 600]).unwrap();
        snapshots.create().unwrap();
        assert!(matches!(snapshots.create(), Err(SnapshotError::TooLarge { .. })));
        assert_eq!(snapshots.list().len(), 1);
        let id = snapshots.list()[0].id.clone();
        snapshots.delete(&id).unwrap();
        snapshots.create().unwrap();
    }

    #[test]
    fn what_is_no_file_is_left_out_and_links_are_not_followed() {
        let (_folder, path, snapshots) = snapshots(1000);
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("f"), "theirs").unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path.join("sock")).unwrap();
        symlink(outside.path(), path.join("way")).unwrap();
        let made = snapshots.create().unwrap();
        assert_eq!((made.bytes, made.left_out), (0, 1));
        snapshots.restore(&made.id).unwrap();
        assert!(outside.path().join("f").exists(), "what a link leads to is not emptied");
    }

    #[test]
    fn they_go_with_the_session() {
        let (_folder, _, snapshots) = snapshots(1000);
        snapshots.create().unwrap();
        let path = snapshots.kept().snapshots[0].1.path().to_owned();
        assert!(path.exists());
        snapshots.clear().unwrap();
        assert!(!path.exists());
    }
}
