//! What is decided anew for each launch: what of the writable directories is protected.
//!
//! Files come and go between two launches, by the host's hand and by the last child's: so a launch
//! looks at what is there now. What it saw is what changes are compared with afterwards.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::guards::merged;
use super::paths::{Guarded, Paths, Visible};
use super::sealed::Sealed;
use crate::inventory::{Bounds, Inventory};
use crate::protection::{Found, find};
use crate::{
    Confinement, ConfinementReport, Mechanism, PrepareError, Prepared, Protection, SpawnError,
    Status, Watch,
};

/// How much is covered at most: each takes time at every launch.
const MOST_COVERS: usize = 4096;

/// How many shortcomings are told.
const MOST_TOLD: usize = 8;

/// Said of every directory that can be written.
pub(super) const ABSENT: &str =
    "names that do not exist yet can be made, and the change report lists them";

/// Everything of a launch.
pub(crate) struct Launch {
    pub(crate) plan: Arc<Sealed>,
    pub(crate) report: ConfinementReport,
    /// What was writable before it; nothing where nobody asked for protection.
    pub(crate) watch: Option<Watch>,
}

/// What is protected in what is writable.
#[derive(Debug, Clone)]
pub(super) struct Protected {
    protection: Protection,
    bounds: Bounds,
    is_required: bool,
    /// What is writable, with what precedes its paths in a report.
    places: Vec<(Visible, PathBuf)>,
    /// What the caller guards, and sockets in what is read-only.
    asked: Vec<Guarded>,
    /// What the launches so far have found, for each of the places.
    known: Arc<Mutex<Vec<BTreeSet<PathBuf>>>>,
}

impl Protected {
    /// Takes note of what there is.
    pub(super) fn new(asked: &Confinement, paths: &Paths) -> Self {
        let shown = |one: &Visible| match one.path == paths.workdir.path {
            true => PathBuf::new(),
            false => one.path.clone(),
        };
        let places: Vec<_> = paths.writable().map(|one| (one.clone(), shown(one))).collect();
        Self {
            known: Arc::new(Mutex::new(vec![BTreeSet::new(); places.len()])),
            protection: asked.protection.clone(),
            bounds: asked.protection_bounds.clone(),
            is_required: asked.required.contains(&Mechanism::ProtectedNames),
            places,
            asked: paths.guards.iter().chain(&paths.sockets).cloned().collect(),
        }
    }

    /// Looks at what is writable.
    fn watch(&self) -> Watch {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let places = self.places.iter().zip(known);
        let places = places.map(|((one, shown), known)| (one.path.as_path(), shown.clone(), known));
        Watch::begin(places, self.protection.clone(), self.bounds.clone())
    }

    /// What is to be covered, and what can't be.
    fn look_through(&self, watch: &Watch) -> Result<(Vec<Guarded>, Vec<String>), PrepareError> {
        let (mut guards, mut missing) = (Vec::new(), Vec::new());
        let mut all_known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let places = self.places.iter().zip(watch.seen()).zip(all_known.iter_mut());
        for (((home, _), (_, seen)), known) in places {
            let Some(inventory) = seen else {
                missing.push(format!("{} can't be looked at", home.path.display()));
                continue;
            };
            let found = find(&self.protection, inventory, &home.path);
            missing.extend(shortcomings(home, inventory, &found));
            known.retain(|path| inventory.is_cut() && inventory.get(path).is_some());
            known.extend(found.read_only.iter().chain(&found.hidden).cloned());
            for (paths, hidden) in [(&found.read_only, false), (&found.hidden, true)] {
                for path in paths {
                    guards.push(Guarded::new(home, path, hidden)?);
                }
            }
        }
        Ok((guards, missing))
    }
}

/// What is not covered of a directory, in words.
fn shortcomings(home: &Visible, inventory: &Inventory, found: &Found) -> Vec<String> {
    let links = found.links.iter().map(|link| {
        format!("{} is a symbolic link, which can be replaced", home.path.join(link).display())
    });
    let gaps = inventory.gaps().iter().map(|gap| format!("in {}, {gap}", home.path.display()));
    gaps.chain(links).collect()
}

impl Prepared {
    /// Looks at what a child may write, so that it can be said later what became of it. Free where
    /// nothing is writable.
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.protected.watch()
    }

    /// Decides what is left to decide.
    pub(crate) fn launch(&self) -> Result<Launch, SpawnError> {
        let (mut plan, mut report) = (Arc::clone(self.plans.first()), self.report.clone());
        if !self.protected.protection.is_on() || self.protected.places.is_empty() {
            return Ok(Launch { plan, report, watch: None });
        }
        let watch = self.protected.watch();
        if plan.plan.namespaces.is_some() {
            let unprotected = |why: String| SpawnError::Unprotected { why };
            let found = self.protected.look_through(&watch);
            let (guards, missing) = found.map_err(|error| unprotected(error.to_string()))?;
            if guards.len() > MOST_COVERS {
                let count = guards.len();
                return Err(unprotected(format!(
                    "{count} paths, and at most {MOST_COVERS} are covered"
                )));
            }
            if self.protected.is_required && !missing.is_empty() {
                return Err(unprotected(told(&missing)));
            }
            plan = self.plans.covering(merged(&self.protected.asked, guards))?;
            report.set(Mechanism::ProtectedNames, status(&missing));
        }
        Ok(Launch { plan, report, watch: Some(watch) })
    }
}

/// The status of what is protected in something writable.
fn status(missing: &[String]) -> Status {
    let missing = match missing {
        [] => ABSENT.to_owned(),
        missing => format!("{}; {ABSENT}", told(missing)),
    };
    Status::Partial { missing }
}

/// The first shortcomings, and how many more there are.
fn told(missing: &[String]) -> String {
    let first = missing.iter().take(MOST_TOLD).cloned().collect::<Vec<_>>().join("; ");
    match missing.len().saturating_sub(MOST_TOLD) {
        0 => first,
        more => format!("{first}; and {more} more"),
    }
}
