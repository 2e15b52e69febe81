//! What is in a directory at one moment, and how two moments differ.
//!
//! An inventory names every file below a directory with what tells a changed file from one that was
//! left alone. The walk follows no link and leaves the directory nowhere, whoever changes it
//! meanwhile; it reads no content. It is bounded, level by level, so that what is near the top is
//! seen first, and says where it stopped. The content of a repository's object store comes last.
//!
//! A path that one of two inventories did not get to is neither created nor deleted, since nobody
//! knows.

mod changes;
mod entry;
mod walk;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub use self::changes::{Change, Changes};
pub use self::entry::{Entry, FileKind};
pub(crate) use crate::bounds::Bounds;

/// Where a walk did not go.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gap {
    /// There are more files than were to be looked at.
    TooMany,
    /// The time was over.
    TooLong,
    /// A directory that is too deep.
    TooDeep(PathBuf),
    /// A directory that can't be read.
    Unreadable(PathBuf),
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooMany => f.write_str("there are too many files"),
            Self::TooLong => f.write_str("the time was over"),
            Self::TooDeep(path) => write!(f, "{} is too deep", path.display()),
            Self::Unreadable(path) => write!(f, "{} can't be read", path.display()),
        }
    }
}

/// What is in a directory at one moment.
#[derive(Debug, Clone, Default)]
pub struct Inventory {
    /// Sorted by the bytes of the path.
    entries: Vec<(PathBuf, Entry)>,
    gaps: Vec<Gap>,
    /// What was looked for by its name, and is not there.
    absent: HashSet<PathBuf>,
}

impl Inventory {
    /// Looks at a directory and all below it, or at a single file.
    ///
    /// # Errors
    /// When the directory itself can't be looked at. What can't be read below it is a
    /// [gap](Self::gaps).
    pub fn take(directory: impl AsRef<Path>, bounds: &Bounds) -> io::Result<Self> {
        walk::take(directory.as_ref(), bounds)
    }

    /// The same for a directory that is open, also by its path alone, and that may be in another mount
    /// namespace.
    ///
    /// # Errors
    /// When the directory itself can't be looked at.
    pub fn take_of(directory: impl AsFd, bounds: &Bounds) -> io::Result<Self> {
        walk::take_of(directory.as_fd(), bounds)
    }

    /// Whether everything was looked at.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Where the walk did not go; the first few.
    #[must_use]
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Every path below the directory with what is there, sorted. The directory itself has the empty
    /// path.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_path(), entry))
    }

    /// What is at a path, relative to the directory.
    #[must_use]
    pub fn get(&self, path: impl AsRef<Path>) -> Option<&Entry> {
        let place = self.place(path.as_ref()).ok()?;
        self.entries.get(place).map(|(_, entry)| entry)
    }

    /// What became of the directory since an earlier inventory of it.
    #[must_use]
    pub fn changes_since(&self, earlier: &Self) -> Changes {
        changes::between(earlier, self)
    }

    /// Whether a bound of the walk was reached.
    pub(crate) fn is_cut(&self) -> bool {
        self.gaps.iter().any(|gap| matches!(gap, Gap::TooMany | Gap::TooLong))
    }

    /// Looks at certain paths of the directory, and at what is below them, whatever the walk did not
    /// get to. What can't be looked at is not added.
    pub(crate) fn look_at<'a>(
        &mut self,
        directory: &Path,
        paths: impl IntoIterator<Item = &'a Path>,
        bounds: &Bounds,
    ) {
        let _as_it_was = walk::add(self, directory, paths, bounds);
    }

    /// Adds what it does not have.
    fn merge(&mut self, found: Vec<(PathBuf, Entry)>) {
        let mut new = Vec::new();
        for (path, entry) in found {
            match self.place(&path) {
                Ok(place) if entry.is_known() => self.entries[place].1.set_read(),
                Ok(_) => {}
                Err(_) => new.push((path, entry)),
            }
        }
        self.entries.extend(new);
        self.sort();
    }

    fn sort(&mut self) {
        self.entries.sort_by(|(one, _), (other, _)| bytes(one).cmp(bytes(other)));
        self.entries.dedup_by(|(one, _), (other, _)| one == other);
    }

    /// Where a path is, or would be.
    fn place(&self, path: &Path) -> Result<usize, usize> {
        self.entries.binary_search_by(|(there, _)| bytes(there).cmp(bytes(path)))
    }

    /// Whether there is nothing at a path, for sure: what is nearest above it is no directory, or
    /// was read to its end; or the path was looked for.
    fn surely_lacks(&self, path: &Path) -> bool {
        if self.get(path).is_some() {
            return false;
        }
        if path.ancestors().any(|one| self.absent.contains(one)) {
            return true;
        }
        let mut above = path.ancestors().skip(1);
        above.find_map(|one| self.get(one)).is_some_and(Entry::is_known)
    }
}

/// How paths are ordered.
fn bytes(path: &Path) -> &[u8] {
    let name: &OsStr = path.as_os_str();
    name.as_bytes()
}
