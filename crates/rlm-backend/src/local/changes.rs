//! What a call made of a session's files: two inventories compared, at a bounded cost.
//!
//! A private directory is looked at after each call, and changes by nothing but the session. An
//! operator's is looked at before a call as well, since others may work in it. A directory with more
//! files than [`MAX_LISTED`] has no list, and is measured now and then only; one that may not be
//! written is not looked at. An empty one, of which most calls make nothing, tells by its own times that
//! it is still empty.

use std::{
    io,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use confine::{Bounds, Change, FileKind, Gap, Inventory};

use super::files::Reach;
use crate::{ChangedFile, FileChanges};

/// How many files a directory may have for its changes to be listed.
const MAX_LISTED: usize = 2000;
/// How long a look for a list may take.
const LIST_TIME: Duration = Duration::from_millis(200);
/// How many changes a list has at most.
const MAX_CHANGES: usize = 100;
/// Up to how many files a look is over in some microseconds.
const SMALL: usize = 32;
/// A look that takes long is not repeated before this many times its length.
const PATIENCE: u32 = 20;
/// Longer than the kernel's clock for files stands still.
const SETTLED: Duration = Duration::from_millis(50);

/// The files of a directory as they were at the last look.
#[derive(Debug)]
pub(crate) struct Watched {
    top: Top,
    reach: Reach,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    inventory: Inventory,
    count: usize,
    /// Where there were too many: when to look again.
    not_before: Option<Instant>,
    /// Of a directory that was empty.
    stamp: Option<Stamp>,
}

/// The directory that is watched.
#[derive(Debug)]
pub(crate) enum Top {
    /// By its path.
    Path(PathBuf),
    /// By a descriptor, where its path is one of another mount namespace.
    Open(OwnedFd),
}

impl Top {
    fn inventory(&self, bounds: &Bounds) -> io::Result<Inventory> {
        match self {
            Self::Path(path) => Inventory::take(path, bounds),
            Self::Open(directory) => Inventory::take_of(directory, bounds),
        }
    }

    fn stat(&self) -> Option<rustix::fs::Stat> {
        match self {
            Self::Path(path) => rustix::fs::lstat(path).ok(),
            Self::Open(directory) => rustix::fs::fstat(directory).ok(),
        }
    }
}

/// What changes when anything is made in an empty directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: (u64, u64),
    changed: SystemTime,
}

impl Stamp {
    /// The stamp of a directory, if its last change is so long ago that another one cannot look alike.
    fn of(top: &Top) -> Option<Self> {
        let stat = top.stat()?;
        let seconds = u64::try_from(stat.st_ctime).ok()?;
        let nanoseconds = u32::try_from(stat.st_ctime_nsec).ok()?;
        let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
        let age = SystemTime::now().duration_since(changed).ok()?;
        (age > SETTLED).then_some(Self { inode: (stat.st_dev, stat.st_ino), changed })
    }
}

impl Watched {
    /// Looks at a private directory for the first time, which makes everything later new.
    pub(crate) fn new(top: Top, reach: Reach) -> Self {
        let watched = Self { top, reach, seen: Mutex::default() };
        if reach == Reach::Private {
            watched.look();
        }
        watched
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_small(&self) -> bool {
        self.reach == Reach::ReadOnly || self.seen().is_small()
    }

    /// How many bytes a private directory holds, at a cost that is bounded only by its size.
    pub(crate) fn measure(&self) -> Option<u64> {
        let whole = || self.top.inventory(&Bounds::default()).ok();
        (self.reach == Reach::Private).then(whole).flatten().as_ref().map(held)
    }

    /// Before a call.
    pub(crate) fn begin(&self) {
        if self.reach == Reach::Shared {
            self.look();
        }
    }

    /// After a call.
    pub(crate) fn look(&self) -> FileChanges {
        if self.reach == Reach::ReadOnly {
            return FileChanges::default();
        }
        let mut seen = self.seen();
        let mut changes = seen.look(&self.top);
        if self.reach != Reach::Private {
            changes.held_bytes = None;
        }
        changes
    }
}

impl Seen {
    fn is_small(&self) -> bool {
        self.count <= SMALL && self.not_before.is_none()
    }

    fn look(&mut self, top: &Top) -> FileChanges {
        let now = Instant::now();
        if self.not_before.is_some_and(|then| now < then) {
            return not_listed(None);
        }
        // Before the look, so that what is made meanwhile shows in the next one.
        let stamp = Stamp::of(top);
        if self.stamp.is_some() && self.stamp == stamp {
            return FileChanges { held_bytes: Some(0), ..FileChanges::default() };
        }
        self.stamp = None;
        let mut bounds = Bounds::default();
        (bounds.entries, bounds.time) = (MAX_LISTED, LIST_TIME);
        let Ok(inventory) = top.inventory(&bounds) else {
            return FileChanges::default();
        };
        if is_cut(&inventory) {
            return self.measure(top, now);
        }
        let had_too_many = self.not_before.take().is_some();
        self.count = inventory.iter().count();
        self.stamp =
            stamp.filter(|_| inventory.iter().all(|(path, _)| path.as_os_str().is_empty()));
        let earlier = std::mem::replace(&mut self.inventory, inventory);
        if had_too_many {
            return not_listed(Some(held(&self.inventory)));
        }
        listed(&earlier, &self.inventory)
    }

    /// Measures a directory with too many files for a list.
    fn measure(&mut self, top: &Top, began: Instant) -> FileChanges {
        let whole = top.inventory(&Bounds::default()).unwrap_or_default();
        let now = Instant::now();
        self.inventory = Inventory::default();
        self.not_before = Some(now + (now - began) * PATIENCE);
        not_listed(Some(held(&whole)))
    }
}

/// Whether there is more of it than was looked at, other than what the session itself closed.
fn is_cut(inventory: &Inventory) -> bool {
    inventory.gaps().iter().any(|gap| matches!(gap, Gap::TooMany | Gap::TooLong))
}

fn not_listed(held_bytes: Option<u64>) -> FileChanges {
    let why = format!("the directory has more than {MAX_LISTED} files");
    FileChanges { not_listed: Some(why), held_bytes, ..FileChanges::default() }
}

fn listed(earlier: &Inventory, later: &Inventory) -> FileChanges {
    let changes = later.changes_since(earlier);
    let all = changes.created.iter().chain(&changes.changed);
    let mut files: Vec<_> = all.filter(|change| change.kind == FileKind::File).collect();
    files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    FileChanges {
        left_out: files.len().saturating_sub(MAX_CHANGES) as u64,
        files: files.into_iter().take(MAX_CHANGES).map(changed_file).collect(),
        held_bytes: Some(held(later)),
        ..FileChanges::default()
    }
}

fn changed_file(change: &Change) -> ChangedFile {
    ChangedFile { path: change.path.to_string_lossy().into_owned(), size: change.size }
}

/// The sizes of all files; of one with several names, each has its share.
fn held(inventory: &Inventory) -> u64 {
    let files = inventory.iter().filter(|(_, entry)| entry.kind() == FileKind::File);
    files.map(|(_, entry)| entry.size() / u64::from(entry.links().max(1))).sum()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn watched(reach: Reach) -> (tempfile::TempDir, Watched) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        (folder, Watched::new(Top::Path(path), reach))
    }

    fn paths(changes: &FileChanges) -> Vec<&str> {
        changes.files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn what_was_made_or_changed_since_the_last_look_is_listed_with_its_size() {
        let (folder, watched) = watched(Reach::Private);
        assert_eq!(watched.look().files, []);
        fs::create_dir(folder.path().join("d")).unwrap();
        fs::write(folder.path().join("d/new"), "12345").unwrap();
        fs::write(folder.path().join("old"), "1").unwrap();
        std::os::unix::fs::symlink("old", folder.path().join("link")).unwrap();
        let changes = watched.look();
        assert_eq!((paths(&changes), changes.held_bytes), (vec!["d/new", "old"], Some(6)));
        assert_eq!(changes.files[0].size, 5);
        fs::write(folder.path().join("old"), "12").unwrap();
        fs::remove_file(folder.path().join("d/new")).unwrap();
        let changes = watched.look();
        assert_eq!((paths(&changes), changes.held_bytes), (vec!["old"], Some(2)));
        assert!(watched.look().files.is_empty());
    }

    #[test]
    fn what_is_made_in_an_empty_directory_is_seen_at_once() {
        let (folder, watched) = watched(Reach::Private);
        std::thread::sleep(2 * SETTLED);
        for _ in 0..50 {
            assert_eq!(watched.look().held_bytes, Some(0));
            assert_eq!(watched.look().files, []);
            fs::write(folder.path().join("new"), "1").unwrap();
            assert_eq!(paths(&watched.look()), ["new"]);
            fs::remove_file(folder.path().join("new")).unwrap();
        }
        assert_eq!(watched.look().held_bytes, Some(0));
        std::thread::sleep(2 * SETTLED);
        watched.look();
        assert!(watched.seen().stamp.is_some(), "an empty directory is known to be one");
    }

    #[test]
    fn a_list_is_bounded_and_a_directory_with_too_many_files_has_none() {
        let (folder, watched) = watched(Reach::Private);
        let fill = |from: usize, to: usize| {
            (from..to).for_each(|n| fs::write(folder.path().join(n.to_string()), "x").unwrap());
        };
        fill(0, MAX_CHANGES + 5);
        let changes = watched.look();
        assert_eq!((changes.files.len(), changes.left_out), (MAX_CHANGES, 5));
        assert!(!watched.is_small());
        fill(0, MAX_LISTED + 1);
        let changes = watched.look();
        assert!(changes.files.is_empty() && changes.not_listed.is_some());
        assert_eq!(changes.held_bytes, Some(MAX_LISTED as u64 + 1));
        assert_eq!(watched.look().held_bytes, None, "it is not measured again at once");
    }

    #[test]
    fn in_the_operators_directory_only_what_a_call_did_is_listed() {
        let (folder, watched) = watched(Reach::Shared);
        fs::write(folder.path().join("theirs"), "x").unwrap();
        watched.begin();
        fs::write(folder.path().join("ours"), "x").unwrap();
        let changes = watched.look();
        assert_eq!((paths(&changes), changes.held_bytes), (vec!["ours"], None));
        let (folder, watched) = self::watched(Reach::ReadOnly);
        watched.begin();
        fs::write(folder.path().join("theirs"), "x").unwrap();
        assert_eq!(watched.look(), FileChanges::default());
    }
}
