//! What became of the writable directories of a child: looked at before, and compared afterwards.
//!
//! A watch is made of one inventory a directory. It costs a walk of each when it begins and another
//! when it is asked; where nothing is writable it costs nothing. What was made within the bounds of
//! those walks is found, whoever made it: the host's own changes meanwhile are among them.

mod findings;
mod report;
mod summary;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use self::findings::{Finding, Reason};
pub use self::report::ChangeReport;
pub use self::summary::{ChangeSummary, ChangedPath, ToldFinding};
use crate::inventory::{Bounds, Inventory};
use crate::protection::{Class, Protection, Repositories, find};

/// How much is looked at beyond the bounds.
const MOST_BESIDES: usize = 20_000;
const TIME_BESIDES: Duration = Duration::from_millis(500);

/// The writable directories of a confinement at one moment.
#[derive(Debug, Clone)]
pub struct Watch {
    places: Vec<Place>,
    protection: Protection,
    bounds: Bounds,
}

/// What of a writable directory whoever isolates its processes should guard.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guarded {
    /// Paths that are to be read-only.
    pub read_only: Vec<PathBuf>,
    /// Sockets, which are to be hidden.
    pub hidden: Vec<PathBuf>,
    /// What can't be guarded.
    pub missing: Vec<String>,
}

/// One directory or file.
#[derive(Debug, Clone)]
struct Place {
    path: PathBuf,
    /// What precedes paths in a report: nothing for the working directory.
    shown: PathBuf,
    /// What was there; nothing where it could not be looked at.
    before: Option<Arc<Inventory>>,
}

impl Watch {
    /// Looks at directories, each with what precedes its paths in a report, and with paths that are
    /// looked at whatever the bounds.
    pub(crate) fn begin<'a>(
        places: impl IntoIterator<Item = (&'a Path, PathBuf, BTreeSet<PathBuf>)>,
        protection: Protection,
        bounds: Bounds,
    ) -> Self {
        let mut watch = Self { places: Vec::new(), protection, bounds };
        for (path, shown, known) in places {
            let before = watch.look(path, || known);
            watch.places.push(Place { before, path: path.to_owned(), shown });
        }
        watch
    }

    /// Looks at a directory that another kind of isolation gives to its processes to write, whole, so
    /// that it can be guarded there as here.
    #[must_use]
    pub fn over(directory: impl AsRef<Path>, protection: Protection) -> Self {
        let place = (directory.as_ref(), PathBuf::new(), BTreeSet::new());
        Self::begin([place], protection, Bounds::default())
    }

    /// What is to be read-only and what is to be hidden, by absolute paths; what is neither and could
    /// be replaced, in words.
    #[must_use]
    pub fn guarded(&self) -> Guarded {
        let mut all = Guarded::default();
        for place in &self.places {
            let Some(before) = &place.before else {
                all.missing.push(format!("{} can't be looked at", place.path.display()));
                continue;
            };
            let found = find(&self.protection, before, &place.path);
            let absolute = |paths: BTreeSet<PathBuf>| {
                paths.into_iter().map(|path| place.path.join(path)).collect::<Vec<_>>()
            };
            all.read_only.extend(absolute(found.read_only));
            all.hidden.extend(absolute(found.hidden));
            let links = absolute(found.links).into_iter();
            all.missing.extend(links.map(|link| format!("{} is a symbolic link", link.display())));
        }
        all
    }

    /// Looks at one directory. Where there is more in it than the bounds allow, what is known and what
    /// has a name of the lists at the top is looked at besides: a crowd of files hides nothing there.
    fn look(
        &self,
        path: &Path,
        known: impl FnOnce() -> BTreeSet<PathBuf>,
    ) -> Option<Arc<Inventory>> {
        let mut inventory = Inventory::take(path, &self.bounds).ok()?;
        if inventory.is_cut() && self.protection.is_on() {
            let paths: Vec<_> = known().into_iter().chain(self.protection.first_looks()).collect();
            let mut bounds = Bounds::default();
            (bounds.entries, bounds.time) = (MOST_BESIDES, TIME_BESIDES);
            inventory.look_at(path, paths.iter().map(PathBuf::as_path), &bounds);
        }
        Some(Arc::new(inventory))
    }

    /// What became of the directories since then.
    #[must_use]
    pub fn report(&self) -> ChangeReport {
        self.compare().0
    }

    /// What became of the directories since then; the next report is about what comes after this one.
    pub fn advance(&mut self) -> ChangeReport {
        let (report, now) = self.compare();
        for (place, inventory) in self.places.iter_mut().zip(now) {
            place.before = inventory;
        }
        report
    }

    /// Whether nobody may write a path of the working directory, by what was there when this was last
    /// looked at: it is protected, or would be if it were there. For a host that writes files there
    /// itself, at the wish of somebody who may not.
    #[must_use]
    pub fn protects(&self, path: impl AsRef<Path>) -> bool {
        let workdir = self.places.iter().find(|place| place.shown.as_os_str().is_empty());
        let Some((place, before)) = workdir.and_then(|it| Some((it, it.before.as_ref()?))) else {
            return false;
        };
        let path = path.as_ref();
        let ruling = Repositories::of(before).ruling_of(&self.protection, path);
        ruling.is_some_and(|(class, _)| class == Class::Protected)
            || find(&self.protection, before, &place.path).covers(path)
    }

    /// Each directory with what was there, for whoever guards it.
    pub(crate) fn seen(&self) -> impl Iterator<Item = (&Path, Option<&Inventory>)> {
        self.places.iter().map(|place| (place.path.as_path(), place.before.as_deref()))
    }

    /// Looks again.
    fn compare(&self) -> (ChangeReport, Vec<Option<Arc<Inventory>>>) {
        let mut report = ChangeReport::nothing();
        let mut all = Vec::new();
        for place in &self.places {
            let known = || {
                let before = place.before.as_ref();
                before
                    .map(|it| find(&self.protection, it, &place.path).read_only)
                    .unwrap_or_default()
            };
            let now = self.look(&place.path, known);
            match (&place.before, &now) {
                (Some(before), Some(now)) => report.add(place, &self.protection, before, now),
                _ => report.changes.complete = false,
            }
            all.push(now);
        }
        report.sort();
        (report, all)
    }
}
