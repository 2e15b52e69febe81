//! The paths of a configuration, looked at once: resolved, typed, identified.

use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use crate::{Confinement, PrepareError};

/// Everything that is visible besides the system, and what is guarded in it.
pub(super) struct Paths {
    pub(super) workdir: Visible,
    pub(super) others: Vec<Visible>,
    pub(super) guards: Vec<Guarded>,
    /// Unix sockets in what is read-only.
    pub(super) sockets: Vec<Guarded>,
    /// Where sockets could not be looked for, in words.
    pub(super) unseen: Vec<String>,
}

/// A file or directory that exists, by the name that it has without symbolic links.
#[derive(Debug, Clone)]
pub(super) struct Visible {
    pub(super) path: PathBuf,
    pub(super) name: CString,
    pub(super) identity: (u64, u64),
    pub(super) is_directory: bool,
    pub(super) writable: bool,
}

/// A path to guard.
#[derive(Debug, Clone)]
pub(super) struct Guarded {
    pub(super) path: PathBuf,
    pub(super) name: CString,
    /// Its parents below the writable path that it is in, outermost first.
    pub(super) parents: Vec<CString>,
    pub(super) hidden: bool,
    pub(super) exists: bool,
}

impl Guarded {
    /// Something that is there, by its path below what is visible.
    pub(super) fn new(home: &Visible, below: &Path, hidden: bool) -> Result<Self, PrepareError> {
        let path = home.path.join(below);
        let above = below.ancestors().skip(1).filter(|one| !one.as_os_str().is_empty());
        let mut parents: Vec<_> = above
            .filter(|_| home.writable)
            .map(|one| c_string(home.path.join(one)))
            .collect::<Result<_, _>>()?;
        parents.reverse();
        Ok(Self { name: c_string(&path)?, parents, hidden, exists: true, path })
    }
}

impl Paths {
    /// Looks every path up.
    pub(super) fn resolve(asked: &Confinement) -> Result<Self, PrepareError> {
        let workdir =
            Visible::look(&asked.workdir, "working directory", asked.workdir_is_writable)?;
        if !workdir.is_directory {
            let source = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(unusable(&asked.workdir, "working directory", source));
        }
        let readable =
            asked.readable.iter().map(|path| Visible::look(path, "readable path", false));
        let writable = asked.writable.iter().map(|path| Visible::look(path, "writable path", true));
        let mut others: Vec<_> = readable.chain(writable).collect::<Result<_, _>>()?;
        others.sort_by_key(|one| one.path.components().count());
        let (guards, sockets, unseen) = (Vec::new(), Vec::new(), Vec::new());
        let mut paths = Self { workdir, others, guards, sockets, unseen };
        paths.guards = paths.all_guards(asked)?;
        Ok(paths)
    }

    /// What is visible besides the system.
    pub(super) fn binds(&self) -> impl Iterator<Item = &Visible> {
        std::iter::once(&self.workdir).chain(&self.others)
    }

    /// What is writable, and not within something else that is.
    pub(super) fn writable(&self) -> impl Iterator<Item = &Visible> {
        let writable = || self.binds().filter(|one| one.writable);
        writable().filter(move |one| {
            !writable().any(|other| one.path != other.path && one.path.starts_with(&other.path))
        })
    }

    /// Looks the guarded paths up, outermost first.
    fn all_guards(&self, asked: &Confinement) -> Result<Vec<Guarded>, PrepareError> {
        let read_only = asked.read_only.iter().map(|path| self.guard(path, false));
        let hidden = asked.hidden.iter().map(|path| self.guard(path, true));
        let mut guards: Vec<_> = read_only.chain(hidden).collect::<Result<_, _>>()?;
        guards.sort_by_key(|guard| guard.path.components().count());
        Ok(guards)
    }

    /// Looks one guarded path up, in the visible path that it is in.
    fn guard(&self, path: &Path, hidden: bool) -> Result<Guarded, PrepareError> {
        let refuse = |why| PrepareError::Guard { path: path.to_owned(), why };
        let (home, below) = self.home_of(path).ok_or_else(|| refuse(NOT_INSIDE))?;
        let plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || below.as_os_str().is_empty() {
            return Err(refuse("it must be a plain path below what is visible"));
        }
        let full = home.path.join(&below);
        let steps: Vec<PathBuf> =
            full.ancestors().take_while(|one| *one != home.path).map(Path::to_owned).collect();
        let is_link = |one: &PathBuf| fs::symlink_metadata(one).is_ok_and(|it| it.is_symlink());
        if steps.iter().any(is_link) {
            return Err(refuse("a symbolic link is in its way; name what the link leads to"));
        }
        Ok(Guarded {
            exists: fs::symlink_metadata(&full).is_ok(),
            ..Guarded::new(home, &below, hidden)?
        })
    }

    /// The innermost visible path that a path is in, and what is left of it.
    fn home_of(&self, path: &Path) -> Option<(&Visible, PathBuf)> {
        if path.is_relative() {
            return Some((&self.workdir, path.to_owned()));
        }
        let homes = self.binds().filter(|one| one.is_directory);
        homes
            .filter_map(|one| Some((one, path.strip_prefix(&one.path).ok()?.to_owned())))
            .min_by_key(|(_, rest)| rest.components().count())
    }
}

/// Said of a guarded path that nothing visible holds.
const NOT_INSIDE: &str = "it is not inside a visible directory; name it without symbolic links";

impl Visible {
    /// Looks a path up.
    pub(super) fn look(
        path: &Path,
        role: &'static str,
        writable: bool,
    ) -> Result<Self, PrepareError> {
        Self::resolve(path, writable).map_err(|source| unusable(path, role, source))
    }

    /// Resolves, and says what is there.
    pub(super) fn resolve(path: &Path, writable: bool) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        if path.parent().is_none() {
            return Err(io::Error::other("the whole file system can't be made visible"));
        }
        let metadata = fs::metadata(&path)?;
        Ok(Self {
            name: CString::new(path.as_os_str().as_bytes())?,
            identity: (metadata.dev(), metadata.ino()),
            is_directory: metadata.is_dir(),
            path,
            writable,
        })
    }
}

/// A path that can't be used as what it was given.
fn unusable(path: &Path, role: &'static str, source: io::Error) -> PrepareError {
    PrepareError::Path { path: path.to_owned(), role, source }
}

/// A name as system calls take it.
pub(super) fn c_string(text: impl AsRef<OsStr>) -> Result<CString, PrepareError> {
    let text = text.as_ref();
    CString::new(text.as_bytes()).map_err(|error| unusable(Path::new(text), "name", error.into()))
}
