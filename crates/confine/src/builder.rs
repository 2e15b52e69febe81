//! What a caller asks for, before anything is looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::{Bounds, Limits, Mechanism, NamespaceMaker, Protection};

/// What of a network a child has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Network {
    /// None; a loopback interface of its own where a network namespace can be had.
    #[default]
    None,
    /// The host's.
    Host,
}

/// A confinement that is being described. [`prepare`](Self::prepare) makes it usable.
///
/// Paths are the host's, and are seen inside under the same names, free of symbolic links.
#[derive(Debug, Clone)]
pub struct Confinement {
    pub(crate) workdir: PathBuf,
    pub(crate) workdir_is_writable: bool,
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) read_only: Vec<PathBuf>,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) protection: Protection,
    pub(crate) protection_bounds: Bounds,
    pub(crate) network: Network,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) limits: Limits,
    pub(crate) required: BTreeSet<Mechanism>,
    pub(crate) switched_off: BTreeSet<Mechanism>,
    /// Who makes the namespaces; whoever can, where nobody is named.
    pub(crate) maker: Option<NamespaceMaker>,
}

impl Confinement {
    /// Starts with a working directory that can be written, and nothing else.
    #[must_use]
    pub fn builder(workdir: impl AsRef<Path>) -> Self {
        Self {
            workdir: workdir.as_ref().to_owned(),
            workdir_is_writable: true,
            readable: Vec::new(),
            writable: Vec::new(),
            read_only: Vec::new(),
            hidden: Vec::new(),
            protection: Protection::standard(),
            protection_bounds: Bounds::default(),
            network: Network::None,
            environment: default_environment(),
            limits: Limits::default(),
            required: BTreeSet::new(),
            switched_off: BTreeSet::new(),
            maker: None,
        }
    }

    /// Makes the working directory read-only.
    #[must_use]
    pub fn read_only_workdir(mut self) -> Self {
        self.workdir_is_writable = false;
        self
    }

    /// Makes a file or directory visible, read-only. It must exist.
    #[must_use]
    pub fn readable(mut self, path: impl AsRef<Path>) -> Self {
        self.readable.push(path.as_ref().to_owned());
        self
    }

    /// Makes a file or directory visible and writable. It must exist.
    #[must_use]
    pub fn writable(mut self, path: impl AsRef<Path>) -> Self {
        self.writable.push(path.as_ref().to_owned());
        self
    }

    /// Makes a path read-only within what is writable; relative paths are the working directory's.
    #[must_use]
    pub fn protect(mut self, path: impl AsRef<Path>) -> Self {
        self.read_only.push(path.as_ref().to_owned());
        self
    }

    /// Hides a path within what is visible; relative paths are the working directory's.
    #[must_use]
    pub fn hide(mut self, path: impl AsRef<Path>) -> Self {
        self.hidden.push(path.as_ref().to_owned());
        self
    }

    /// Sets what within writable directories is read-only, wherever it is, because a host obeys or
    /// runs it later. By default that is the [standard](Protection::standard) of this crate.
    ///
    /// Unlike [`protect`](Self::protect), it is looked for at each launch, and best effort: what
    /// could not be found or covered is in the report.
    #[must_use]
    pub fn protection(mut self, protection: Protection) -> Self {
        self.protection = protection;
        self
    }

    /// Sets how far a launch, and a report of changes, looks for it.
    #[must_use]
    pub fn protection_bounds(mut self, bounds: Bounds) -> Self {
        self.protection_bounds = bounds;
        self
    }

    /// Sets the network.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Gives the child one environment variable. Nothing of the caller's own is passed by itself.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Takes away one of the variables that a child has by default.
    #[must_use]
    pub fn without_env(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.remove(name.as_ref());
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Refuses to start anything without this mechanism.
    ///
    /// By default the *properties* are required (files, network and privileges are confined, by
    /// whichever mechanism can), and each single mechanism is used where the machine has it.
    #[must_use]
    pub fn require(mut self, mechanism: Mechanism) -> Self {
        self.required.insert(mechanism);
        self
    }

    /// Has the namespaces made by one maker and no other. Otherwise `bwrap` makes them where the
    /// launcher may not.
    #[must_use]
    pub fn namespaces_by(mut self, maker: NamespaceMaker) -> Self {
        self.maker = Some(maker);
        self
    }

    /// Does not use a mechanism, as if this machine did not have it.
    ///
    /// No new privileges, capabilities and resource limits are always used.
    #[must_use]
    pub fn without(mut self, mechanism: Mechanism) -> Self {
        self.switched_off.insert(mechanism);
        self
    }
}

/// What a child has of an environment by default.
fn default_environment() -> BTreeMap<OsString, OsString> {
    [
        ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
        ("HOME", "/tmp"),
        ("TMPDIR", "/tmp"),
        ("LANG", "C.UTF-8"),
        ("TZ", "UTC"),
    ]
    .into_iter()
    .map(|(name, value)| (name.into(), value.into()))
    .collect()
}
