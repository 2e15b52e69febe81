//! What else confines the process, as far as the filter has to know.

/// What other mechanisms leave open safely. What is `false` here the filter closes itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    /// TCP and UDP may be used: the process has a network namespace of its own, or was granted the
    /// host's network.
    pub inet: bool,
    /// Unix sockets may be used: no socket of the host can be reached by path (own root) or by
    /// abstract name (own network namespace or a Landlock scope).
    pub unix: bool,
    /// System V IPC and message queues may be used: the process has an IPC namespace of its own.
    pub ipc: bool,
    /// Processes of the host can't be named: the process has a PID namespace of its own.
    pub pids: bool,
}

impl Profile {
    /// Every namespace is there: own root, own network, own IPC, own processes.
    pub const NAMESPACES: Self = Self { inet: true, unix: true, ipc: true, pids: true };

    /// No namespace is there and no network is wanted. The filter is the only thing that keeps the
    /// process from the network, from sockets of the host such as Docker's, from shared memory, and
    /// from slowing the user's other processes.
    pub const LANDLOCK_ONLY: Self = Self { inet: false, unix: false, ipc: false, pids: false };
}
