//! What is really in force for a child, mechanism by mechanism.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Mechanism;

/// What became of one mechanism.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// In force, as far as it reaches.
    Enforced,
    /// In force, but not all that was asked for.
    Partial {
        /// What is missing.
        missing: String,
    },
    /// This machine does not offer it.
    Unavailable {
        /// What the kernel said.
        why: String,
    },
    /// Nobody asked for it, or it was switched off.
    NotRequested,
}

/// The status of every mechanism for one child.
///
/// A launch ends with an error when a step of it fails, so what is `Enforced` here was carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfinementReport {
    #[serde(flatten)]
    statuses: BTreeMap<Mechanism, Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory_held_by: Option<MemoryHolder>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) namespaces_made_by: Option<NamespaceMaker>,
}

/// Who makes the namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NamespaceMaker {
    /// This crate's launcher.
    Launcher,
    /// An installed `bwrap`, with the launcher within: where the system lets only that one.
    Bubblewrap,
}

/// What holds a limit on memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MemoryHolder {
    /// A control group of version 2: that of all processes together, with what they have of files.
    ControlGroupV2,
    /// A control group of version 1, which counts the same.
    ControlGroupV1,
    /// `RLIMIT_DATA`: that of each process alone, without files in memory.
    ResourceLimit,
}

impl ConfinementReport {
    /// A report in which nothing was requested yet.
    pub(crate) fn new() -> Self {
        let statuses = Mechanism::ALL.into_iter().map(|one| (one, Status::NotRequested)).collect();
        Self { statuses, memory_held_by: None, namespaces_made_by: None }
    }

    /// Enters the status of one mechanism.
    pub(crate) fn set(&mut self, mechanism: Mechanism, status: Status) {
        self.statuses.insert(mechanism, status);
    }

    /// The status of one mechanism.
    #[must_use]
    pub fn status(&self, mechanism: Mechanism) -> &Status {
        self.statuses.get(&mechanism).unwrap_or(&Status::NotRequested)
    }

    /// Whether a mechanism is in force, wholly.
    #[must_use]
    pub fn is_enforced(&self, mechanism: Mechanism) -> bool {
        *self.status(mechanism) == Status::Enforced
    }

    /// What holds the memory; nothing where it is not limited.
    #[must_use]
    pub fn memory_held_by(&self) -> Option<MemoryHolder> {
        self.memory_held_by
    }

    /// Who makes the namespaces; nothing where there are none.
    #[must_use]
    pub fn namespaces_made_by(&self) -> Option<NamespaceMaker> {
        self.namespaces_made_by
    }

    /// Every mechanism with its status, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (Mechanism, &Status)> {
        self.statuses.iter().map(|(mechanism, status)| (*mechanism, status))
    }
}
