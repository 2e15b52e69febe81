//! One file as an inventory knows it: what it is, and what tells that it was changed.
//!
//! The time of the last change of the inode (`ctime`) is set by the kernel alone, so a file that was
//! written and given its old size and times back is told apart all the same. Two changes within one
//! tick of the kernel's clock may look like one; since Linux 6.13 a time that somebody looked at is
//! never given twice.

use rustix::fs::{FileType, Statx};

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileKind {
    /// A file with content.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A unix socket.
    Socket,
    /// A named pipe.
    Fifo,
    /// A device file.
    Device,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    kind: FileKind,
    size: u64,
    mode: u16,
    owner: (u32, u32),
    links: u32,
    device: (u32, u32),
    inode: u64,
    modified: (i64, u32),
    changed: (i64, u32),
    /// Where a link leads, in its own words.
    target: Option<Box<std::path::Path>>,
    /// Whether a directory was read to its end.
    was_read: bool,
    /// Whether it is in a repository's object store.
    is_object: bool,
}

impl Entry {
    /// What the kernel says of a file.
    pub(super) fn new(stat: &Statx, is_object: bool) -> Self {
        Self {
            kind: kind(stat),
            size: stat.stx_size,
            mode: stat.stx_mode & 0o7777,
            owner: (stat.stx_uid, stat.stx_gid),
            links: stat.stx_nlink,
            device: (stat.stx_dev_major, stat.stx_dev_minor),
            inode: stat.stx_ino,
            modified: (stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec),
            changed: (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec),
            target: None,
            was_read: false,
            is_object,
        }
    }

    /// The same, leading somewhere.
    pub(super) fn with_target(mut self, target: Option<Box<std::path::Path>>) -> Self {
        self.target = target;
        self
    }

    /// Notes that a directory was read to its end.
    pub(super) fn set_read(&mut self) {
        self.was_read = true;
    }

    /// Notes that it is in an object store.
    pub(super) fn set_object(&mut self) {
        self.is_object = true;
    }

    /// What kind of file it is.
    #[must_use]
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// Its size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether it is a file that somebody may execute.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        self.kind == FileKind::File && self.mode & 0o111 != 0
    }

    /// How many names it has.
    #[must_use]
    pub fn links(&self) -> u32 {
        self.links
    }

    /// Where a symbolic link leads, in its own words.
    #[must_use]
    pub fn target(&self) -> Option<&std::path::Path> {
        self.target.as_deref()
    }

    /// Whether it is in a repository's object store, where nothing is executed.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.is_object
    }

    /// Whether what is below it is known: all of it, or nothing because it is no directory.
    pub(super) fn is_known(&self) -> bool {
        self.kind != FileKind::Directory || self.was_read
    }

    /// Which file it is, whatever its name.
    pub(crate) fn identity(&self) -> (u32, u32, u64) {
        (self.device.0, self.device.1, self.inode)
    }

    /// Whether it is not what it was. Of a directory only itself counts, its mode and its owner: what
    /// is in it is compared on its own.
    pub(super) fn differs_from(&self, earlier: &Self) -> bool {
        let itself = |entry: &Self| (entry.mode, entry.owner);
        let content = |entry: &Self| {
            (entry.identity(), entry.size, entry.links, entry.modified, entry.changed)
        };
        itself(self) != itself(earlier)
            || (self.kind != FileKind::Directory && content(self) != content(earlier))
    }
}

/// The kind that a mode says.
fn kind(stat: &Statx) -> FileKind {
    match FileType::from_raw_mode(u32::from(stat.stx_mode)) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Link,
        FileType::Socket => FileKind::Socket,
        FileType::Fifo => FileKind::Fifo,
        _ => FileKind::Device,
    }
}
