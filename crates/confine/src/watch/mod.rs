//! What became of the writable directories of a child: looked at before, and compared afterwards.
//!
//! A watch is made of one inventory a directory. It costs a walk of each when it begins and another
//! when it is asked; where nothing is writable it costs nothing. What was made within the bounds of
//! those walks is found, whoever made it: the host's own changes meanwhile are among them.

mod findings;
mod report;
mod summary;

use std::io;
use std::path::{Path, PathBuf};

pub use self::findings::{Finding, Reason};
pub use self::report::ChangeReport;
pub use self::summary::{ChangeSummary, ChangedPath, ToldFinding};
use crate::Protection;
use crate::inventory::{Bounds, Inventory};

/// The writable directories of a confinement at one moment.
#[derive(Debug, Clone)]
pub struct Watch {
    places: Vec<Place>,
    protection: Protection,
    bounds: Bounds,
}

/// One directory or file.
#[derive(Debug, Clone)]
struct Place {
    path: PathBuf,
    /// What precedes paths in a report: nothing for the working directory.
    shown: PathBuf,
    /// What was there; nothing where it could not be looked at.
    before: Option<Inventory>,
}

impl Watch {
    /// Looks at directories, each with what precedes its paths in a report.
    pub(crate) fn begin<'a>(
        places: impl IntoIterator<Item = (&'a Path, PathBuf)>,
        protection: Protection,
        bounds: Bounds,
    ) -> Self {
        let look = |(path, shown): (&Path, PathBuf)| Place {
            before: Inventory::take(path, &bounds).ok(),
            path: path.to_owned(),
            shown,
        };
        Self { places: places.into_iter().map(look).collect(), protection, bounds }
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

    /// Each directory with what was there, for whoever guards it.
    pub(crate) fn seen(&self) -> impl Iterator<Item = (&Path, Option<&Inventory>)> {
        self.places.iter().map(|place| (place.path.as_path(), place.before.as_ref()))
    }

    /// Looks again.
    fn compare(&self) -> (ChangeReport, Vec<Option<Inventory>>) {
        let mut report = ChangeReport::nothing();
        let mut all = Vec::new();
        for place in &self.places {
            let now: io::Result<_> = Inventory::take(&place.path, &self.bounds);
            let now = now.ok();
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
