//! The walk: level by level, by descriptors, through no link.
//!
//! A directory is opened by its path beneath the one at the top, and the kernel refuses a path with
//! a symbolic link in it (`openat2`). The names that were read are looked up beneath that
//! descriptor, one name at a time. So whoever swaps directories for links meanwhile makes the walk
//! miss something, and leads it nowhere.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{CStr, OsStr};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::{
    AtFlags, CWD, Dir, Mode, OFlags, ResolveFlags, StatxFlags, openat2, readlinkat, statx,
};

use super::{Bounds, Entry, FileKind, Gap, Inventory};

/// How many gaps are told; more would tell nothing new.
const MOST_GAPS: usize = 16;

/// Walks.
pub(super) fn take(directory: &Path, bounds: &Bounds) -> io::Result<Inventory> {
    whole(Walk::new(directory, bounds)?)
}

/// Walks what is below an open directory.
pub(super) fn take_of(directory: BorrowedFd<'_>, bounds: &Bounds) -> io::Result<Inventory> {
    whole(Walk::below(directory.try_clone_to_owned()?, bounds))
}

fn whole(mut walk: Walk<'_>) -> io::Result<Inventory> {
    let top = walk.find(PathBuf::new())?;
    if walk.found[top].1.kind() == FileKind::Directory {
        walk.waiting.push_back(top);
        walk.everything();
    }
    let Walk { found, gaps, .. } = walk;
    let mut inventory = Inventory { entries: found, gaps, ..Inventory::default() };
    inventory.sort();
    Ok(inventory)
}

/// Adds what is at certain paths and below them, within bounds of its own.
pub(super) fn add<'a>(
    inventory: &mut Inventory,
    directory: &Path,
    paths: impl IntoIterator<Item = &'a Path>,
    bounds: &Bounds,
) -> io::Result<()> {
    let mut walk = Walk::new(directory, bounds)?;
    let mut places: HashMap<&Path, Option<usize>> = HashMap::new();
    let mut lined_up = HashSet::new();
    for path in paths {
        let above: Vec<_> = path.ancestors().filter(|one| !one.as_os_str().is_empty()).collect();
        // From the top on, up to the first that is not there.
        for one in above.into_iter().rev() {
            let place = *places.entry(one).or_insert_with(|| {
                walk.find(one.to_owned())
                    .inspect_err(|error| {
                        let is_absent = error.kind() == ErrorKind::NotFound;
                        inventory.absent.extend(is_absent.then(|| one.to_owned()));
                    })
                    .ok()
            });
            let Some(place) = place else { break };
            let is_directory = walk.found[place].1.kind() == FileKind::Directory;
            if one == path && is_directory && lined_up.insert(place) {
                walk.waiting.push_back(place);
            }
        }
    }
    walk.everything();
    inventory.merge(walk.found);
    Ok(())
}

/// A walk on its way.
struct Walk<'a> {
    top: OwnedFd,
    bounds: &'a Bounds,
    deadline: Instant,
    found: Vec<(PathBuf, Entry)>,
    /// Directories that were found and not yet read, as places in `found`.
    waiting: VecDeque<usize>,
    /// Object stores, which come last.
    objects: VecDeque<usize>,
    gaps: Vec<Gap>,
}

/// Why a walk goes no further.
struct Over;

impl<'a> Walk<'a> {
    /// A walk that has not begun.
    fn new(directory: &Path, bounds: &'a Bounds) -> io::Result<Self> {
        let path = fs::canonicalize(directory)?;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let top = openat2(CWD, &path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        Ok(Self::below(top, bounds))
    }

    /// The same of what is open already.
    fn below(top: OwnedFd, bounds: &'a Bounds) -> Self {
        Self {
            top,
            bounds,
            deadline: Instant::now() + bounds.time,
            found: Vec::new(),
            waiting: VecDeque::new(),
            objects: VecDeque::new(),
            gaps: Vec::new(),
        }
    }

    /// Adds what is at one path; gives its place in what was found.
    fn find(&mut self, path: PathBuf) -> io::Result<usize> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let is_top = path.as_os_str().is_empty();
        let place = if is_top { self.top.try_clone()? } else { self.open(&path, flags)? };
        let entry = look(place.as_fd(), c"", false)?.ok_or(ErrorKind::NotFound)?;
        self.found.push((path, entry));
        Ok(self.found.len() - 1)
    }

    /// Reads directories until there are none or a bound is reached.
    fn everything(&mut self) {
        while let Some(place) = self.waiting.pop_front().or_else(|| self.objects.pop_front()) {
            if self.read(place).is_err() {
                return;
            }
        }
    }

    /// Reads one directory.
    fn read(&mut self, place: usize) -> Result<(), Over> {
        let path = self.found[place].0.clone();
        if path.components().count() >= self.bounds.depth {
            self.note(Gap::TooDeep(path));
            return Ok(());
        }
        let first = self.found.len();
        match self.entries(&path, self.found[place].1.is_object()) {
            Ok(()) => self.found[place].1.set_read(),
            Err(Stop::Over(gap)) => {
                self.note(gap);
                return Err(Over);
            }
            Err(Stop::Gone) => {}
            Err(Stop::Unreadable) => self.note(Gap::Unreadable(path)),
        }
        self.line_up(first);
        Ok(())
    }

    /// Adds what is in a directory.
    fn entries(&mut self, path: &Path, is_object: bool) -> Result<(), Stop> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let place = self.open(path, flags)?;
        for (count, entry) in Dir::read_from(&place)?.enumerate() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if self.found.len() > self.bounds.entries {
                return Err(Stop::Over(Gap::TooMany));
            }
            if count % 64 == 0 && Instant::now() >= self.deadline {
                return Err(Stop::Over(Gap::TooLong));
            }
            if let Some(entry) = look(place.as_fd(), name, is_object)? {
                self.found.push((path.join(OsStr::from_bytes(name.to_bytes())), entry));
            }
        }
        Ok(())
    }

    /// Opens something by its path.
    fn open(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        Ok(openat2(&self.top, path, flags, Mode::empty(), how)?)
    }

    /// Lines up the directories among what was just found.
    fn line_up(&mut self, first: usize) {
        let new = &self.found[first..];
        let has = |name: &str| new.iter().any(|(path, _)| path.ends_with(name));
        let is_repository = has("HEAD") && has("refs");
        for place in first..self.found.len() {
            let (path, entry) = &mut self.found[place];
            if entry.kind() != FileKind::Directory {
                continue;
            }
            if is_repository && path.ends_with("objects") {
                entry.set_object();
            }
            let line = if entry.is_object() { &mut self.objects } else { &mut self.waiting };
            line.push_back(place);
        }
    }

    /// Notes where the walk does not go.
    fn note(&mut self, gap: Gap) {
        if self.gaps.len() < MOST_GAPS {
            self.gaps.push(gap);
        }
    }
}

/// Why a directory was not read to its end.
enum Stop {
    /// A bound of the whole walk is reached.
    Over(Gap),
    /// It was there a moment ago.
    Gone,
    /// This one can't be read.
    Unreadable,
}

impl<E: Into<io::Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        if error.into().kind() == ErrorKind::NotFound { Self::Gone } else { Self::Unreadable }
    }
}

/// What is at a name, or the place itself where that is empty; nothing if it is gone.
fn look(place: BorrowedFd<'_>, name: &CStr, is_object: bool) -> io::Result<Option<Entry>> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::EMPTY_PATH;
    let stat = match statx(place, name, flags, StatxFlags::BASIC_STATS) {
        Ok(stat) => stat,
        Err(error) if io::Error::from(error).kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let entry = Entry::new(&stat, is_object);
    if entry.kind() != FileKind::Link {
        return Ok(Some(entry));
    }
    let target = readlinkat(place, name, Vec::new()).ok();
    let target = target.map(|text| Path::new(OsStr::from_bytes(text.to_bytes())).into());
    Ok(Some(entry.with_target(target)))
}
