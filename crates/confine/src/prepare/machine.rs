//! What this machine offers, learnt by trying: a child without a program goes through the steps.
//!
//! What succeeded is remembered for the process, each mechanism for itself; what failed is tried again,
//! since an operator may have enabled it meanwhile, but not for every launch.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::bubblewrap::{self, Bubblewrap};
use super::view;
use crate::cgroup::{self, Place};
use crate::plan::{Identity, Namespaces, Plan};
use crate::seccomp::{Arch, Filter, Profile};
use crate::{Mechanism, NamespaceMaker, Network, child, launcher, sys};

/// What there is, or why not.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) namespaces: Result<(), String>,
    /// The `bwrap` that makes them, where the launcher does not.
    pub(super) bubblewrap: Option<CString>,
    pub(super) network_namespace: Result<(), String>,
    /// The version of Landlock.
    pub(super) landlock: Result<u32, String>,
    pub(super) seccomp: Result<(), String>,
    /// Where control groups can be made.
    pub(super) groups: Result<Vec<Place>, String>,
}

/// What the last look found, and when that was.
static FOUND: Mutex<Option<(Machine, Instant)>> = Mutex::new(None);

/// How long what failed is not tried again.
const PATIENCE: Duration = Duration::from_secs(1);

/// Said of a mechanism that the caller does not want.
const SWITCHED_OFF: &str = "switched off";

impl Machine {
    /// Looks, and leaves out what is switched off. Where the launcher can't make namespaces, `bwrap`
    /// is tried, unless a maker is named.
    pub(super) fn look(
        switched_off: &BTreeSet<Mechanism>,
        maker: Option<NamespaceMaker>,
    ) -> io::Result<Self> {
        let machine = Self::look_alone()?;
        let is_wanted = match maker {
            None => machine.namespaces.is_err(),
            Some(maker) => maker == NamespaceMaker::Bubblewrap,
        };
        let machine = if is_wanted && !switched_off.contains(&Mechanism::Namespaces) {
            let found = bubblewrap::look(|network, by| in_namespaces(network, Some(by)), rehearse)?;
            machine.with(found)
        } else {
            machine
        };
        Ok(machine.without(switched_off))
    }

    /// The same machine with `bwrap` as the maker, if it can.
    fn with(mut self, found: Result<Bubblewrap, String>) -> Self {
        match found {
            Ok(Bubblewrap { program, network }) => {
                self.namespaces = Ok(());
                self.network_namespace = network;
                self.bubblewrap = Some(program);
            }
            Err(why) => {
                let before = self.namespaces.err().map(|before| format!("{before}; "));
                self.namespaces = Err(format!("{}{why}", before.unwrap_or_default()));
            }
        }
        self
    }

    /// What there is without the help of another program.
    fn look_alone() -> io::Result<Self> {
        // Held while a child tries, so that two callers don't try the same at once.
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        let machine = match &*found {
            Some((machine, at)) if machine.has_everything() || at.elapsed() < PATIENCE => {
                machine.clone()
            }
            earlier => {
                let machine = Self::try_what_is_missing(earlier.as_ref().map(|(it, _)| it))?;
                *found = Some((machine.clone(), Instant::now()));
                machine
            }
        };
        Ok(machine)
    }

    /// Tries each mechanism that an earlier look has not found.
    fn try_what_is_missing(earlier: Option<&Self>) -> io::Result<Self> {
        let try_plan = |answer: fn(&Self) -> &Result<(), String>, plan: fn() -> Plan| {
            let was_found = earlier.is_some_and(|machine| answer(machine).is_ok());
            if was_found { Ok(Ok(())) } else { rehearse(&plan()) }
        };
        // Before anything is started: this may move the process into another control group.
        let groups = match earlier.and_then(|machine| machine.groups.clone().ok()) {
            Some(found) => Ok(found),
            None => cgroup::usable(launcher::keep_clear)?,
        };
        Ok(Self {
            landlock: sys::abi().map_err(|error| error.to_string()),
            seccomp: try_plan(|it| &it.seccomp, filtered)?,
            namespaces: try_plan(|it| &it.namespaces, || in_namespaces(false, None))?,
            network_namespace: try_plan(|it| &it.network_namespace, || in_namespaces(true, None))?,
            bubblewrap: None,
            groups,
        })
    }

    /// Whether nothing is left to be enabled.
    fn has_everything(&self) -> bool {
        self.namespaces.is_ok()
            && self.network_namespace.is_ok()
            && self.landlock.is_ok()
            && self.seccomp.is_ok()
            && self.groups.is_ok()
    }

    /// Whether a control group holds something, or why none does.
    pub(super) fn group(&self, holds: impl Fn(&Place) -> bool) -> Result<(), String> {
        let places = self.groups.as_ref().map_err(Clone::clone)?;
        if places.iter().any(holds) {
            return Ok(());
        }
        Err("switched off, or the controller is not handed down".to_owned())
    }

    /// The same machine without what is switched off.
    fn without(mut self, switched_off: &BTreeSet<Mechanism>) -> Self {
        let off = |mechanism| switched_off.contains(&mechanism);
        if off(Mechanism::Namespaces) {
            self.namespaces = Err(SWITCHED_OFF.to_owned());
        }
        if off(Mechanism::NetworkNamespace) {
            self.network_namespace = Err(SWITCHED_OFF.to_owned());
        }
        if off(Mechanism::Landlock) {
            self.landlock = Err(SWITCHED_OFF.to_owned());
        }
        if off(Mechanism::Seccomp) {
            self.seccomp = Err(SWITCHED_OFF.to_owned());
        }
        if let Ok(places) = &mut self.groups {
            places.retain_mut(|place| {
                place.memory &= !off(Mechanism::MemoryGroup);
                place.processes &= !off(Mechanism::ProcessGroup);
                place.cpu &= !off(Mechanism::CpuGroup);
                place.holds_something()
            });
        }
        self
    }
}

/// A child with the filter of a child in namespaces.
fn filtered() -> Plan {
    Plan { seccomp: Some(filter(Profile::NAMESPACES)), ..Plan::default() }
}

/// A child that sees the system and nothing else.
fn in_namespaces(network: bool, bubblewrap: Option<CString>) -> Plan {
    Plan {
        namespaces: Some(Namespaces {
            identity: Identity::own(),
            network,
            root: view::system(Network::None),
            bubblewrap: bubblewrap.clone(),
        }),
        empty_bounding_set: bubblewrap.is_none(),
        ..Plan::default()
    }
}

/// Goes through a plan without a program. The inner answer is what the kernel refused.
fn rehearse(plan: &Plan) -> io::Result<Result<(), String>> {
    child::rehearse(plan)
}

/// The filter of a profile, as it travels.
pub(super) fn filter(profile: Profile) -> Vec<(u16, u8, u8, u32)> {
    let compiled = Arch::native().and_then(|arch| Filter::compile(arch, profile).ok());
    let instructions = compiled.iter().flat_map(|filter| filter.instructions());
    instructions.map(|one| (one.code, one.jt, one.jf, one.k)).collect()
}
