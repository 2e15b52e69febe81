//! The mechanisms of the kernel that confine a child, each reported on its own.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A mechanism that confines a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mechanism {
    /// User, mount, process-id, IPC and host name namespaces, with a root assembled for the child.
    Namespaces,
    /// A network namespace with a loopback interface alone.
    NetworkNamespace,
    /// Landlock rules on files, TCP, abstract sockets and signals.
    Landlock,
    /// The filter of system calls.
    Seccomp,
    /// No program that is started gains privileges.
    NoNewPrivileges,
    /// Every capability is given up.
    Capabilities,
    /// Paths that are read-only or hidden within what is visible.
    GuardedPaths,
    /// Names that a host obeys or runs later, read-only within what is writable, and sockets of the
    /// host, hidden. Where something is writable it is in force in part at most: what does not exist
    /// can be made. To require it is to refuse a launch in which something that exists stays open.
    ProtectedNames,
    /// Limits on each process, by `setrlimit`.
    ResourceLimits,
    /// The memory of all processes together, by a control group.
    MemoryGroup,
    /// The number of all processes together, by a control group.
    ProcessGroup,
    /// The processor time of all processes together, by a control group.
    CpuGroup,
}

impl Mechanism {
    /// All of them, in the order of a report.
    pub const ALL: [Self; 12] = [
        Self::Namespaces,
        Self::NetworkNamespace,
        Self::Landlock,
        Self::Seccomp,
        Self::NoNewPrivileges,
        Self::Capabilities,
        Self::GuardedPaths,
        Self::ProtectedNames,
        Self::ResourceLimits,
        Self::MemoryGroup,
        Self::ProcessGroup,
        Self::CpuGroup,
    ];

    /// How an operator makes it available, as a command where there is one.
    #[must_use]
    pub fn how_to_enable(self) -> &'static str {
        match self {
            Self::Namespaces
            | Self::NetworkNamespace
            | Self::GuardedPaths
            | Self::ProtectedNames => {
                "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 \
                 user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1 \
                 (those that exist; in a container, its seccomp profile must allow clone3 and mount)"
            }
            Self::Landlock => {
                "boot Linux 5.13 or later with `lsm=landlock,...` on its command line"
            }
            Self::Seccomp => "run a kernel built with CONFIG_SECCOMP_FILTER=y",
            Self::NoNewPrivileges | Self::Capabilities | Self::ResourceLimits => {
                "every supported kernel has it"
            }
            Self::MemoryGroup | Self::ProcessGroup | Self::CpuGroup => {
                "run with a delegated control group: systemd-run --user --scope -p Delegate=yes ..."
            }
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Namespaces => "namespaces",
            Self::NetworkNamespace => "network namespace",
            Self::Landlock => "Landlock",
            Self::Seccomp => "seccomp",
            Self::NoNewPrivileges => "no new privileges",
            Self::Capabilities => "capabilities",
            Self::GuardedPaths => "guarded paths",
            Self::ProtectedNames => "protected names",
            Self::ResourceLimits => "resource limits",
            Self::MemoryGroup => "memory control group",
            Self::ProcessGroup => "process control group",
            Self::CpuGroup => "cpu control group",
        })
    }
}
