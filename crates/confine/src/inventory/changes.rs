//! How two inventories of one directory differ.
//!
//! Files are compared by path: what was renamed is deleted and created, and so is what became a file
//! of another kind. A file that got another name (a hard link) is changed, since its number of names
//! is, and the name is created.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Entry, FileKind, Inventory, bytes};

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Where, relative to the directory.
    pub path: PathBuf,
    /// What is there, or was, if it is deleted.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// How many names the file has; more than one means that a change shows elsewhere too.
    pub links: u32,
    /// Whether it is in a repository's object store, where nothing is executed.
    #[serde(skip)]
    pub is_object: bool,
}

impl Change {
    fn new(path: &Path, entry: &Entry) -> Self {
        Self {
            path: path.to_owned(),
            kind: entry.kind(),
            size: entry.size(),
            links: entry.links(),
            is_object: entry.is_object(),
        }
    }
}

/// What became of a directory between two inventories. Each list is sorted by the bytes of the path,
/// and as long as the inventories' bounds allow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Changes {
    /// What was not there.
    pub created: Vec<Change>,
    /// What is not what it was.
    pub changed: Vec<Change>,
    /// What is no longer there.
    pub deleted: Vec<Change>,
    /// Whether both inventories looked at everything; if not, there may be more.
    pub complete: bool,
}

impl Changes {
    /// Whether nothing is known to differ.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.created.is_empty() && self.changed.is_empty() && self.deleted.is_empty()
    }
}

/// Compares.
pub(super) fn between(earlier: &Inventory, later: &Inventory) -> Changes {
    let complete = earlier.is_complete() && later.is_complete();
    let mut changes = Changes { complete, ..Changes::default() };
    let (mut old, mut new) = (earlier.iter().peekable(), later.iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return changes,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((one, _)), Some((other, _))) => bytes(one).cmp(bytes(other)),
        };
        let was = if order.is_le() { old.next() } else { None };
        let is = if order.is_ge() { new.next() } else { None };
        changes.add(earlier, later, was, is);
    }
}

/// A path and what is there.
type Found<'a> = (&'a Path, &'a Entry);

impl Changes {
    /// Compares what was at one path with what is.
    fn add(
        &mut self,
        earlier: &Inventory,
        later: &Inventory,
        was: Option<Found<'_>>,
        is: Option<Found<'_>>,
    ) {
        match (was, is) {
            (Some((path, was)), Some((_, is))) if was.kind() != is.kind() => {
                self.deleted.push(Change::new(path, was));
                self.created.push(Change::new(path, is));
            }
            (Some((path, was)), Some((_, is))) if is.differs_from(was) => {
                self.changed.push(Change::new(path, is));
            }
            (Some((path, was)), None) if later.surely_lacks(path) => {
                self.deleted.push(Change::new(path, was));
            }
            (None, Some((path, is))) if earlier.surely_lacks(path) => {
                self.created.push(Change::new(path, is));
            }
            _ => {}
        }
    }
}
