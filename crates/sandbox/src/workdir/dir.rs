//! The directory that executors are confined to.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use super::{
    beneath::{DirReader, Root},
    error::OpenError,
    path::or_dot,
};

/// How paths beneath a [`Workdir`] are looked up. Both ways refuse the same paths; they differ in who
/// follows links and `..`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// The kernel, with `openat2` and `RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS` (Linux 5.6).
    Kernel,
    /// This crate, one component at a time with `O_NOFOLLOW`, for kernels and containers that do not
    /// offer `openat2`. Paths may be at most 128 directories deep.
    Steps,
}

/// A directory, held by its descriptor, beneath which files are opened and nothing else can be
/// reached.
///
/// It is the directory that was there when it was opened: renaming it, or putting another one in its
/// place, changes nothing. What it opens is confined as `docs/design/workdir-containment.md` says.
///
/// Elsewhere than on Linux it can be made, and every call of an executor on it is
/// `backend_unavailable`.
///
/// ```
/// let workdir = sandbox::Workdir::open(".")?;
/// println!("{workdir:?}");
/// assert!(sandbox::Workdir::open("no/such/directory").is_err());
/// # Ok::<(), sandbox::WorkdirError>(())
/// ```
#[derive(Debug)]
pub struct Workdir {
    root: Root,
}

/// A path that can't be a working directory.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} can't be the working directory: {source}; give a directory that exists and may be entered",
    path.display()
)]
pub struct WorkdirError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl Workdir {
    /// Opens a directory, and finds out how paths beneath it can be looked up here.
    ///
    /// # Errors
    /// Where it does not exist, is no directory, or may not be entered.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WorkdirError> {
        Self::open_as(path.as_ref(), None)
    }

    /// Opens a directory whose paths are looked up in the given way.
    ///
    /// # Errors
    /// Where it does not exist, is no directory, or may not be entered.
    pub fn open_with(path: impl AsRef<Path>, by: Resolution) -> Result<Self, WorkdirError> {
        Self::open_as(path.as_ref(), Some(by))
    }

    fn open_as(path: &Path, by: Option<Resolution>) -> Result<Self, WorkdirError> {
        match Root::open(path, by) {
            Ok(root) => Ok(Self { root }),
            Err(source) => Err(WorkdirError { path: path.to_owned(), source }),
        }
    }

    /// How paths are looked up.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        self.root.resolution()
    }

    /// Opens a regular file for reading; gives its size at that moment too.
    pub(super) fn open_file(&self, path: &Path) -> Result<(File, u64), OpenError> {
        self.root.open_file(or_dot(path))
    }

    /// Opens a directory for listing.
    pub(super) fn open_dir(&self, path: &Path) -> Result<DirReader, OpenError> {
        self.root.open_dir(or_dot(path))
    }
}
