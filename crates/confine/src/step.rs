//! The steps of a launch, as an error names them.

use serde::{Deserialize, Serialize};

/// A step of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Step {
    /// Taking over the job.
    ReadJob,
    /// Making the process in its new namespaces.
    Clone,
    /// Joining the control groups.
    JoinCgroups,
    /// Mapping user and group ids.
    MapIdentity,
    /// Opening what of the host is visible.
    OpenTrees,
    /// Making a new root and attaching everything to it.
    BuildRoot,
    /// Mounting a new `/proc`.
    MountProc,
    /// Making paths read-only or hidden.
    GuardPaths,
    /// Leaving the old root.
    EnterRoot,
    /// Bringing up the loopback interface and naming the host.
    Network,
    /// Making the process that becomes the program.
    Fork,
    /// Handing over descriptors.
    Descriptors,
    /// Entering the working directory.
    WorkingDirectory,
    /// Setting resource limits.
    Rlimits,
    /// Giving up capabilities.
    Capabilities,
    /// Landlock.
    Landlock,
    /// Seccomp.
    Seccomp,
    /// Starting the program.
    Execute,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::ReadJob => "taking over the job",
            Self::Clone => "making a process in new namespaces",
            Self::JoinCgroups => "joining the control groups",
            Self::MapIdentity => "mapping user and group ids",
            Self::OpenTrees => "opening what is visible of the file system",
            Self::BuildRoot => "building the new root",
            Self::MountProc => "mounting /proc",
            Self::GuardPaths => "guarding paths",
            Self::EnterRoot => "entering the new root",
            Self::Network => "setting up the network",
            Self::Fork => "making the program's process",
            Self::Descriptors => "handing over descriptors",
            Self::WorkingDirectory => "entering the working directory",
            Self::Rlimits => "setting resource limits",
            Self::Capabilities => "giving up capabilities",
            Self::Landlock => "restricting by Landlock",
            Self::Seccomp => "installing the seccomp filter",
            Self::Execute => "starting the program",
        })
    }
}
