//! What this machine offers, learnt by trying: a child without a program goes through the steps.
//!
//! What succeeded is remembered for the process; what failed is tried again the next time, since an
//! operator may have enabled it meanwhile.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, PoisonError};

use super::view;
use crate::cgroup::{self, Place};
use crate::plan::{Identity, Namespaces, Plan};
use crate::seccomp::{Arch, Filter, Profile};
use crate::{Mechanism, Network, child, sys};

/// What there is, or why not.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) namespaces: Result<(), String>,
    pub(super) network_namespace: Result<(), String>,
    /// The version of Landlock.
    pub(super) landlock: Result<u32, String>,
    pub(super) seccomp: Result<(), String>,
    /// Where control groups can be made.
    pub(super) groups: Result<Vec<Place>, String>,
}

/// The last look at which everything was found.
static FOUND: Mutex<Option<Machine>> = Mutex::new(None);

/// Said of a mechanism that the caller does not want.
const SWITCHED_OFF: &str = "switched off";

impl Machine {
    /// Looks, and leaves out what is switched off.
    pub(super) fn look(switched_off: &BTreeSet<Mechanism>) -> io::Result<Self> {
        let remembered = FOUND.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let found = match remembered {
            Some(machine) => machine,
            None => Self::try_everything()?,
        };
        Ok(found.without(switched_off))
    }

    /// Tries each mechanism.
    fn try_everything() -> io::Result<Self> {
        let seccomp = Plan { seccomp: Some(filter(Profile::NAMESPACES)), ..Plan::default() };
        let machine = Self {
            landlock: sys::abi().map_err(|error| error.to_string()),
            seccomp: rehearse(&seccomp)?,
            namespaces: rehearse(&in_namespaces(false))?,
            network_namespace: rehearse(&in_namespaces(true))?,
            groups: cgroup::usable(),
        };
        if machine.has_everything() {
            *FOUND.lock().unwrap_or_else(PoisonError::into_inner) = Some(machine.clone());
        }
        Ok(machine)
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
                place.memory || place.processes
            });
        }
        self
    }
}

/// A child that sees the system and nothing else.
fn in_namespaces(network: bool) -> Plan {
    Plan {
        namespaces: Some(Namespaces {
            identity: Identity::own(),
            network,
            root: view::system(Network::None),
        }),
        empty_bounding_set: true,
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
