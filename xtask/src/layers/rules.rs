//! The rules as data: the levels, and which dependency belongs to which crate alone.

/// The crates by level, lowest first. A crate may use any of a lower level, none of its own.
pub(super) const LEVELS: &[&[&str]] = &[
    &["tool-core"],
    &["model", "confine"],
    &["sandbox", "chain"],
    &["rlm-backend", "spawner", "browser"],
    &["toolset"],
    &["mcp-server"],
    &["cli"],
];

/// Help for tests: a normal dependency of nothing but the chores, which run the same proofs.
pub(super) const TESTKIT: &str = "testkit";

/// What [`TESTKIT`] itself may use of this workspace.
pub(super) const TESTKIT_MAY_USE: &[&str] = &["tool-core", "rlm-backend"];

/// The chores: may use anything, and nothing may use them.
pub(super) const XTASK: &str = "xtask";

/// A package from outside that only some crates may ask for.
pub(super) struct Reserved {
    pub(super) package: &'static str,
    pub(super) owners: &'static [&'static str],
}

/// Packages that stand for an ability, each kept in one place.
pub(super) const RESERVED: &[Reserved] = &[
    Reserved { package: "bollard", owners: &["rlm-backend"] },
    Reserved { package: "rmcp", owners: &["mcp-server"] },
    Reserved { package: "clap", owners: &["cli", "xtask"] },
    Reserved { package: "clap_complete", owners: &["cli"] },
    Reserved { package: "clap_mangen", owners: &["cli"] },
];

/// Crates that start no process and open no connection.
pub(super) const INERT: &[&str] = &["tool-core", "sandbox"];

/// Packages that an inert crate does not ask for: each could start a process or open a connection.
pub(super) const ACTIVE_PACKAGES: &[&str] = &[
    "async-process",
    "axum",
    "bollard",
    "command-group",
    "curl",
    "duct",
    "hyper",
    "hyper-util",
    "isahc",
    "libc",
    "mio",
    "model",
    "nix",
    "portable-pty",
    "process-wrap",
    "quinn",
    "reqwest",
    "socket2",
    "subprocess",
    "surf",
    "syscalls",
    "tokio-tungstenite",
    "tonic",
    "tungstenite",
    "ureq",
    "xshell",
];

/// Features that give a harmless package the same power, as (package, features).
pub(super) const ACTIVE_FEATURES: &[(&str, &[&str])] = &[
    ("jsonschema", &["default", "resolve-file", "resolve-http", "resolve-async"]),
    ("rustix", &["all-apis", "io_uring", "net", "process", "pty", "runtime"]),
    ("tokio", &["full", "net", "process"]),
];
