//! What of a decision is reported: the status of each mechanism, before anything is launched.

use super::{Decision, launch};
use crate::cgroup::Version;
use crate::{ConfinementReport, Mechanism, MemoryHolder, NamespaceMaker, Network, Status};

impl Decision<'_> {
    /// The status of each mechanism.
    pub(super) fn report(&self) -> ConfinementReport {
        let mut report = ConfinementReport::new();
        let found = |answer: &Result<(), String>| match answer {
            Ok(()) => Status::Enforced,
            Err(why) => Status::Unavailable { why: why.clone() },
        };
        report.set(Mechanism::Namespaces, found(&self.machine.namespaces));
        if self.asked.network == Network::None {
            let own = self.machine.namespaces.as_ref().and(self.machine.network_namespace.as_ref());
            report.set(Mechanism::NetworkNamespace, found(&own.copied().map_err(Clone::clone)));
        }
        report.set(Mechanism::Landlock, self.landlock_status());
        report.set(Mechanism::Seccomp, found(&self.machine.seccomp));
        report.set(Mechanism::NoNewPrivileges, Status::Enforced);
        report.set(Mechanism::Capabilities, Status::Enforced);
        report.set(Mechanism::ResourceLimits, Status::Enforced);
        report.set(Mechanism::GuardedPaths, self.guards_status());
        report.set(Mechanism::ProtectedNames, self.protection_status());
        if self.asked.limits.memory.is_some() {
            report.set(Mechanism::MemoryGroup, found(&self.machine.group(|place| place.memory)));
        }
        if self.asked.limits.processes.is_some() {
            let holds = self.machine.group(|place| place.processes);
            report.set(Mechanism::ProcessGroup, found(&holds));
        }
        if self.asked.limits.cpu_share.is_some() {
            report.set(Mechanism::CpuGroup, found(&self.machine.group(|place| place.cpu)));
        }
        report.memory_held_by = self.memory_holder();
        report.namespaces_made_by = self.has_namespaces().then(|| self.maker());
        report
    }

    /// Who makes the namespaces.
    fn maker(&self) -> NamespaceMaker {
        match self.machine.bubblewrap {
            Some(_) => NamespaceMaker::Bubblewrap,
            None => NamespaceMaker::Launcher,
        }
    }

    /// What holds the memory of a child, if that is limited.
    fn memory_holder(&self) -> Option<MemoryHolder> {
        self.asked.limits.memory?;
        let place = self.groups().into_iter().find(|place| place.memory);
        Some(match place.map(|place| place.version) {
            Some(Version::Two) => MemoryHolder::ControlGroupV2,
            Some(Version::One) => MemoryHolder::ControlGroupV1,
            None => MemoryHolder::ResourceLimit,
        })
    }

    /// Landlock handles more with every version.
    fn landlock_status(&self) -> Status {
        match &self.machine.landlock {
            Err(why) => Status::Unavailable { why: why.clone() },
            Ok(6..) => Status::Enforced,
            Ok(abi) => Status::Partial {
                missing: format!(
                    "this kernel has version {abi}; signals and abstract sockets need 6"
                ),
            },
        }
    }

    /// What a launch does about names that the host obeys, as far as that is known before it.
    fn protection_status(&self) -> Status {
        if !self.asked.protection.is_on() {
            return Status::NotRequested;
        }
        let is_writable = self.paths.writable().next().is_some();
        match (&self.machine.namespaces, self.paths.unseen.as_slice()) {
            (Err(why), _) if is_writable => Status::Unavailable {
                why: format!("namespaces: {why}; Landlock can't make exceptions"),
            },
            (_, []) if is_writable => Status::Partial { missing: launch::ABSENT.to_owned() },
            (_, []) => Status::Enforced,
            (_, unseen) => Status::Partial { missing: unseen.join("; ") },
        }
    }

    /// What does not exist can't be covered.
    fn guards_status(&self) -> Status {
        if self.paths.guards.is_empty() {
            return Status::NotRequested;
        }
        let absent: Vec<_> = self.paths.guards.iter().filter(|guard| !guard.exists).collect();
        if absent.is_empty() {
            return Status::Enforced;
        }
        let names: Vec<_> = absent.iter().map(|guard| guard.path.display().to_string()).collect();
        Status::Partial { missing: format!("not there yet, and can be made: {}", names.join(", ")) }
    }
}
