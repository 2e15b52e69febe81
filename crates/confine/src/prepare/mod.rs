//! From what is asked for to what can be launched: everything that can be decided before a launch.

mod bubblewrap;
mod guards;
mod launch;
mod machine;
mod paths;
mod report;
mod sealed;
mod sockets;
mod view;

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::geteuid;

use self::launch::Protected;
use self::machine::{Machine, filter};
use self::paths::Paths;
use self::sealed::Plans;
pub(crate) use self::sealed::Sealed;
use crate::cgroup::{Blueprint, Ceilings, Place};
use crate::child::{self, Ticket};
use crate::plan::{Identity, Landlock, Namespaces, Plan, Rlimit};
use crate::seccomp::Profile;
use crate::{
    Child, Command, Confinement, ConfinementReport, Limits, Mechanism, Network, PrepareError,
    SpawnError, Status,
};

/// A confinement whose every decision is made; children are started from it.
#[derive(Debug, Clone)]
pub struct Prepared {
    plans: Plans,
    /// What children that wait for this confinement know it by.
    pub(crate) ticket: Arc<Ticket>,
    pub(crate) environment: Vec<(CString, CString)>,
    pub(crate) directory: CString,
    pub(crate) groups: Vec<Place>,
    /// How a child's groups are made in each.
    pub(crate) blueprints: Vec<Blueprint>,
    report: ConfinementReport,
    protected: Protected,
}

impl Confinement {
    /// Looks at the machine and at the paths, and decides how each child is confined.
    ///
    /// # Errors
    /// When a path can't be used, a limit is zero, or what is required is not there.
    pub fn prepare(&self) -> Result<Prepared, PrepareError> {
        self.decide(None)
    }

    /// Decides everything anew as [`prepare`](Self::prepare) does, and goes on with what was made for an
    /// earlier confinement where the decisions are the same: its plan, and the child that waits for it.
    /// Only the environment may differ. So a caller that starts one child for each description has the
    /// short launches of one that keeps a [`Prepared`].
    ///
    /// # Errors
    /// As for [`prepare`](Self::prepare).
    pub fn prepare_like(&self, earlier: &Prepared) -> Result<Prepared, PrepareError> {
        self.decide(Some(earlier))
    }

    fn decide(&self, earlier: Option<&Prepared>) -> Result<Prepared, PrepareError> {
        check_limits(&self.limits)?;
        let mut paths = Paths::resolve(self)?;
        let machine =
            Machine::look(&self.switched_off, self.maker).map_err(PrepareError::Launcher)?;
        if self.protection.is_on() && machine.namespaces.is_ok() {
            paths.hide_sockets(&self.protection_bounds)?;
        }
        Decision { asked: self, paths: &paths, machine: &machine }.make(earlier)
    }
}

impl Prepared {
    /// Starts a child.
    ///
    /// # Errors
    /// When a step of the launch fails or the program can't be started; nothing is left then.
    pub fn spawn(&self, command: Command) -> Result<Child, SpawnError> {
        child::spawn(self, command)
    }

    /// The environment as a program takes it.
    pub(crate) fn environment_block(&self) -> Vec<CString> {
        let joined = self.environment.iter().filter_map(|(name, value)| {
            CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok()
        });
        joined.collect()
    }

    /// What is in force for a child of this confinement.
    #[must_use]
    pub fn report(&self) -> &ConfinementReport {
        &self.report
    }
}

/// What a decision is made of.
struct Decision<'a> {
    asked: &'a Confinement,
    paths: &'a Paths,
    machine: &'a Machine,
}

impl Decision<'_> {
    /// Decides, and reports what was decided.
    fn make(&self, earlier: Option<&Prepared>) -> Result<Prepared, PrepareError> {
        let report = self.report();
        self.check_properties()?;
        self.check_required(&report)?;
        let (plan, groups, blueprints) = (self.plan(), self.groups(), self.blueprints());
        let is_same = |one: &&Prepared| {
            one.plans.first().plan == plan && one.groups == groups && one.blueprints == blueprints
        };
        let (plans, ticket) = match earlier.filter(is_same) {
            Some(same) => (same.plans.clone(), Arc::clone(&same.ticket)),
            None => (Plans::new(plan).map_err(PrepareError::Launcher)?, Arc::new(Ticket::new())),
        };
        Ok(Prepared {
            plans,
            ticket,
            environment: self.environment()?,
            directory: self.paths.workdir.name.clone(),
            groups,
            blueprints,
            report,
            protected: Protected::new(self.asked, self.paths),
        })
    }

    /// Whether the child has namespaces.
    fn has_namespaces(&self) -> bool {
        self.machine.namespaces.is_ok()
    }

    /// Whether the child has a network of its own.
    fn has_own_network(&self) -> bool {
        self.asked.network == Network::None
            && self.has_namespaces()
            && self.machine.network_namespace.is_ok()
    }

    /// The control groups that hold something that is asked for.
    fn groups(&self) -> Vec<Place> {
        let limits = &self.asked.limits;
        let mut places = self.machine.groups.clone().unwrap_or_default();
        places.retain(|place| {
            (place.memory && limits.memory.is_some())
                || (place.processes && limits.processes.is_some())
                || (place.cpu && limits.cpu_share.is_some())
        });
        places
    }

    /// How a child's groups are made there. The first process is one of those that they count.
    fn blueprints(&self) -> Vec<Blueprint> {
        let limits = &self.asked.limits;
        let processes = limits.processes.map(|most| most.saturating_add(1));
        let (memory, cpu_share) = (limits.memory, limits.cpu_share);
        let ceilings = Ceilings { memory, processes, cpu_share };
        self.groups().iter().map(|place| Blueprint::new(place, ceilings)).collect()
    }

    /// The filter's profile: what it has to close because nothing else does.
    fn profile(&self) -> Profile {
        let own_network = self.has_own_network();
        let scoped = self.machine.landlock.as_ref().is_ok_and(|abi| *abi >= 6);
        Profile {
            inet: own_network || self.asked.network == Network::Host,
            unix: self.has_namespaces() && (own_network || scoped),
            ipc: self.has_namespaces(),
            pids: self.has_namespaces(),
        }
    }

    /// Files and network are confined by one mechanism or another, or nothing is started.
    fn check_properties(&self) -> Result<(), PrepareError> {
        let missing = |mechanism: Mechanism, what: &str, why: String| PrepareError::Missing {
            what: what.to_owned(),
            why,
            remedy: mechanism.how_to_enable(),
        };
        let Err(no_namespaces) = &self.machine.namespaces else {
            return self.check_network();
        };
        if let Err(no_landlock) = &self.machine.landlock {
            let why = format!("namespaces: {no_namespaces}; Landlock: {no_landlock}");
            return Err(missing(Mechanism::Namespaces, "the file system", why));
        }
        if !self.paths.guards.is_empty() {
            let why = format!("namespaces: {no_namespaces}; Landlock can't make exceptions");
            return Err(missing(Mechanism::GuardedPaths, "hidden and protected paths", why));
        }
        self.check_network()
    }

    /// No network means none: by a namespace, or by a filter that refuses sockets.
    fn check_network(&self) -> Result<(), PrepareError> {
        if self.asked.network == Network::Host || self.has_own_network() {
            return Ok(());
        }
        match &self.machine.seccomp {
            Ok(()) => Ok(()),
            Err(why) => Err(PrepareError::Missing {
                what: "the network".to_owned(),
                why: format!("no network namespace, and seccomp: {why}"),
                remedy: Mechanism::NetworkNamespace.how_to_enable(),
            }),
        }
    }

    /// Single mechanisms that the caller does not go without.
    fn check_required(&self, report: &ConfinementReport) -> Result<(), PrepareError> {
        for mechanism in &self.asked.required {
            let why = match report.status(*mechanism) {
                Status::Enforced => continue,
                // Each launch sees to it that what exists is protected.
                Status::Partial { .. } if *mechanism == Mechanism::ProtectedNames => continue,
                Status::Partial { missing } => missing.clone(),
                Status::Unavailable { why } => why.clone(),
                Status::NotRequested => "it is not used in this configuration".to_owned(),
            };
            return Err(PrepareError::missing(*mechanism, why));
        }
        Ok(())
    }

    /// What a launch does.
    fn plan(&self) -> Plan {
        let namespaces = self.has_namespaces();
        Plan {
            namespaces: namespaces.then(|| Namespaces {
                identity: Identity::own(),
                network: self.has_own_network(),
                root: view::root(self.asked, self.paths),
                bubblewrap: self.machine.bubblewrap.clone(),
            }),
            wall_clock: self.asked.limits.wall_clock,
            rlimits: rlimits(&self.asked.limits, self.machine.group(|place| place.memory).is_ok()),
            landlock: self.machine.landlock.as_ref().ok().map(|abi| self.landlock(*abi)),
            // `bwrap` leaves nothing that could empty it, and nothing to empty.
            empty_bounding_set: self.machine.bubblewrap.is_none()
                && (namespaces || geteuid().is_root()),
            seccomp: self.machine.seccomp.is_ok().then(|| filter(self.profile())),
        }
    }

    /// The Landlock rules.
    fn landlock(&self, abi: u32) -> Landlock {
        let (readable, mut writable) = if self.has_namespaces() {
            (vec![c"/".to_owned()], vec![c"/tmp".to_owned(), c"/dev".to_owned()])
        } else {
            view::without_namespaces(self.paths)
        };
        writable.extend(self.paths.binds().filter(|one| one.writable).map(|one| one.name.clone()));
        let refuse_tcp = self.asked.network == Network::None && !self.has_own_network();
        Landlock { abi, refuse_tcp, readable, writable }
    }

    /// What the child gets of an environment.
    fn environment(&self) -> Result<Vec<(CString, CString)>, PrepareError> {
        let pairs = self.asked.environment.iter();
        pairs
            .map(|(name, value)| {
                let moved = !self.has_namespaces() && value == "/tmp";
                let value: &OsStr = if moved { self.paths.workdir.path.as_os_str() } else { value };
                Ok((paths::c_string(name)?, paths::c_string(value)?))
            })
            .collect()
    }
}

/// A limit of zero is a mistake, not a limit.
fn check_limits(limits: &Limits) -> Result<(), PrepareError> {
    let all = [
        ("memory", limits.memory),
        ("processes", limits.processes),
        ("file_size", limits.file_size),
        ("open_files", limits.open_files),
        ("cpu_share", limits.cpu_share.map(u64::from)),
        ("tmp_size", Some(limits.tmp_size)),
        ("cpu_time", limits.cpu_time.map(whole_seconds)),
        ("wall_clock", limits.wall_clock.map(whole_seconds)),
    ];
    match all.into_iter().find(|(_, value)| *value == Some(0)) {
        Some((limit, _)) => Err(PrepareError::ZeroLimit { limit }),
        None => Ok(()),
    }
}

/// Seconds, rounded up.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// Limits of each process. The memory of one is limited only where a group does not limit that of
/// all: a program that is killed for it is told apart, one that gets no memory is not.
fn rlimits(limits: &Limits, memory_is_grouped: bool) -> Vec<(Rlimit, u64)> {
    let asked = [
        (Rlimit::Data, limits.memory.filter(|_| !memory_is_grouped)),
        (Rlimit::Processes, limits.processes),
        (Rlimit::Cpu, limits.cpu_time.map(whole_seconds)),
        (Rlimit::FileSize, limits.file_size),
        (Rlimit::OpenFiles, limits.open_files),
        (Rlimit::Core, Some(0)),
    ];
    asked.into_iter().filter_map(|(which, value)| Some((which, value?))).collect()
}

/// Bytes of a path or name.
fn bytes(text: &(impl AsRef<OsStr> + ?Sized)) -> &[u8] {
    text.as_ref().as_bytes()
}
