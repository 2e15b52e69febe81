//! Whose a container is: labels with the program that made it, so that what a killed program left
//! behind is told from what another one uses.
//!
//! An owner is dead where it ran on this machine and its process is gone. What ran elsewhere, or in
//! another process namespace, can't be judged from here, and is never called dead.

use std::{collections::HashMap, fs, io};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The label with the session's place.
pub(super) const SESSION: &str = "remit.session";
/// The label with the owner.
pub(super) const OWNER: &str = "remit.owner";

/// A program that makes containers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    /// The name of its machine.
    pub(super) host: String,
    /// What tells machines of one name apart: a digest of the machine's own id, where it has one.
    machine: String,
    /// The start of that machine.
    boot: String,
    /// Its process namespace.
    namespace: String,
    /// Its process, in that namespace.
    pub(super) pid: u32,
    /// When the process started, in ticks since the machine did.
    started: u64,
}

impl Owner {
    /// This program.
    pub(super) fn this() -> io::Result<Self> {
        let read = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned());
        let pid = std::process::id();
        let started = start_of(pid).ok_or_else(|| io::Error::other("/proc can't be read"))?;
        Ok(Self {
            host: read("/proc/sys/kernel/hostname")?,
            machine: read("/etc/machine-id").map(|id| digest(&id)).unwrap_or_default(),
            boot: read("/proc/sys/kernel/random/boot_id")?,
            namespace: fs::read_link("/proc/self/ns/pid")?.to_string_lossy().into_owned(),
            pid,
            started,
        })
    }

    /// The labels of a container of this owner.
    pub(super) fn labels(&self, session: &str) -> HashMap<String, String> {
        let owner = serde_json::to_string(self).unwrap_or_default();
        HashMap::from([(SESSION.to_owned(), session.to_owned()), (OWNER.to_owned(), owner)])
    }

    /// Reads a label; nothing where it is none of ours.
    pub(super) fn read(label: &str) -> Option<Self> {
        serde_json::from_str(label).ok()
    }

    /// Whether it certainly runs no more, as seen from `us`.
    pub(super) fn is_dead(&self, us: &Self) -> bool {
        if self.host != us.host || self.machine != us.machine {
            return false;
        }
        if self.boot != us.boot {
            // Without an id of its own, another machine of that name may be meant.
            return !us.machine.is_empty();
        }
        self.namespace == us.namespace && start_of(self.pid) != Some(self.started)
    }
}

fn digest(id: &str) -> String {
    let hash = Sha256::new().chain_update("remit.owner ").chain_update(id).finalize();
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// When a living process started; nothing where there is none of this number.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Its name may hold anything, also spaces and brackets.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then(|| fields.nth(18)?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_read_as_it_was_written() {
        let us = Owner::this().unwrap();
        let labels = us.labels("s");
        assert_eq!(Owner::read(&labels[OWNER]), Some(us));
        assert_eq!(labels[SESSION], "s");
        assert_eq!(Owner::read("host 12"), None);
    }

    #[test]
    fn only_who_is_gone_from_this_machine_is_dead() {
        let us = Owner::this().unwrap();
        let us = Owner { machine: "m".to_owned(), ..us };
        assert!(!us.is_dead(&us));
        type Change = fn(&mut Owner);
        let cases: [(Change, bool); 7] = [
            (|other| other.pid = u32::MAX, true),
            (|other| other.started += 1, true),
            (|other| other.boot = "earlier".to_owned(), true),
            (|other| (other.pid, other.host) = (u32::MAX, "elsewhere".to_owned()), false),
            (|other| (other.pid, other.machine) = (u32::MAX, "another".to_owned()), false),
            (|other| (other.pid, other.namespace) = (u32::MAX, "pid:[1]".to_owned()), false),
            (|other| (other.boot, other.host) = ("b".to_owned(), "h".to_owned()), false),
        ];
        for (at, (change, dead)) in cases.into_iter().enumerate() {
            let mut other = us.clone();
            change(&mut other);
            assert_eq!(other.is_dead(&us), dead, "{at}");
        }
        let nameless = Owner { machine: String::new(), ..us.clone() };
        let other = Owner { boot: "earlier".to_owned(), ..nameless.clone() };
        assert!(!other.is_dead(&nameless));
    }
}
