//! Children that wait for their order: everything is done for them but the start of a program.
//!
//! From its second launch on, a confinement has its next child built while the current one runs. No
//! two children share namespaces or control groups: each that waits is used once. It is used only if
//! it is what would be built now: the same paths are to be covered, nothing was mounted or unmounted on
//! the host since it was asked for, and every path that its view shows or covers leads where it led.
//! Otherwise it is thrown away, and the launch takes the longer way.
//!
//! How long one may wait is not bounded, how many is: by [`MOST`], the oldest going first, and by the
//! life of their confinement. They end with the host as running children do.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::launching::{Launching, Origin};
use crate::prepare::Sealed;
use crate::witness::{MountWatch, Witness};
use crate::{Prepared, launcher};

/// The most that wait in this process.
const MOST: usize = 4;

/// How long one that was asked for may take.
const BUILD_TIMEOUT: Duration = Duration::from_secs(10);

/// All that wait, the oldest first.
static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());

/// The number of the next confinement.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What a confinement and its copies are known by. With the last of them, what waits for it ends.
#[derive(Debug)]
pub(crate) struct Ticket {
    number: u64,
    was_used: AtomicBool,
}

impl Ticket {
    /// A new one.
    pub(crate) fn new() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { number, was_used: AtomicBool::new(false) }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut all = waiting();
        let ended: Vec<_> = all.extract_if(.., |one| one.of == self.number).collect();
        drop(all);
        drop(ended);
    }
}

/// A child that waits.
struct Waiting {
    /// The process that asked for it; a copy of that process made by `fork` has no right to it.
    host: u32,
    /// The confinement's number.
    of: u64,
    plan: Arc<Sealed>,
    /// Tells of mounts since it was asked for.
    mounts: MountWatch,
    launching: Launching,
}

impl Waiting {
    /// Asks for one.
    fn new(prepared: &Prepared, plan: &Arc<Sealed>) -> std::io::Result<Self> {
        Ok(Self {
            host: std::process::id(),
            of: prepared.ticket.number,
            plan: Arc::clone(plan),
            mounts: MountWatch::new()?,
            launching: Launching::begin(prepared, plan, Origin::Ahead)?,
        })
    }

    /// Whether it is what would be built now.
    fn is_up_to_date(&mut self, plan: &Arc<Sealed>) -> bool {
        if !Arc::ptr_eq(&self.plan, plan) {
            return false;
        }
        if !self.launching.is_ready_now() {
            launcher::hurry();
        }
        let is_ready = self.launching.ready(BUILD_TIMEOUT);
        let saw = is_ready.ok().flatten();
        saw.is_some() && saw == Witness::take(&plan.plan).as_ref() && self.mounts.is_unchanged()
    }
}

/// A child of this confinement that waits and is up to date for a plan.
pub(super) fn take(prepared: &Prepared, plan: &Arc<Sealed>) -> Option<Launching> {
    let host = std::process::id();
    let mut found = {
        let mut all = waiting();
        let fits = |one: &Waiting| one.host == host && one.of == prepared.ticket.number;
        let at = all.iter().position(fits)?;
        all.remove(at)
    };
    found.is_up_to_date(plan).then_some(found.launching)
}

/// Has the next child built, if there is reason to believe in a next launch and none waits.
pub(super) fn refill(prepared: &Prepared, plan: &Arc<Sealed>) {
    let is_first = !prepared.ticket.was_used.swap(true, Ordering::Relaxed);
    let can_be_used = Witness::is_possible(&plan.plan);
    let waits = || waiting().iter().any(|one| one.of == prepared.ticket.number);
    if is_first || !can_be_used || waits() {
        return;
    }
    // Without one, the next launch takes the longer way and is told if something is wrong.
    if let Ok(one) = Waiting::new(prepared, plan) {
        let mut all = waiting();
        all.push(one);
        let oldest = (all.len() > MOST).then(|| all.remove(0));
        drop(all);
        drop(oldest);
    }
}

/// The list. Nothing that takes long is done while it is held.
fn waiting() -> MutexGuard<'static, Vec<Waiting>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}
