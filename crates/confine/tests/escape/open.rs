//! Attempts that are not held yet, each with the reason. A row for one that is held is an error.

use crate::confined::Level;
use crate::stage::Role;

struct Open {
    name: &'static str,
    level: Option<Level>,
    role: Option<Role>,
    reason: &'static str,
}

/// At full confinement, whoever asks.
const fn full(name: &'static str, reason: &'static str) -> Open {
    Open { name, level: Some(Level::Full), role: None, reason }
}

/// Without namespaces, whoever asks.
const fn landlock(name: &'static str, reason: &'static str) -> Open {
    Open { name, level: Some(Level::Landlock), role: None, reason }
}

const ABSENT: &str = "a protected path that does not exist yet can be made, and the report says so";
const METADATA: &str = "Landlock has no right for modes, times and attributes of visible files";
const SCHEDULING: &str = "without a PID namespace, processes of the same user can be slowed";
const GROUPS: &str = "supplementary groups are kept";

const OPEN: &[Open] = &[
    full("files.agent-settings", ABSENT),
    full("files.editor-tasks", ABSENT),
    full("files.envrc", ABSENT),
    full("files.tool-servers", ABSENT),
    full("files.shell-start", ABSENT),
    full("network.unix-read-only", "a socket in a directory that was granted can be connected to"),
    landlock("files.chmod-read-only", METADATA),
    landlock("files.times-read-only", METADATA),
    landlock("files.xattr-read-only", METADATA),
    landlock("processes.pidfd", "without a PID namespace a descriptor of a process can be had"),
    Open {
        name: "processes.renice",
        level: Some(Level::Landlock),
        role: Some(Role::User),
        reason: SCHEDULING,
    },
    Open {
        name: "processes.affinity",
        level: Some(Level::Landlock),
        role: Some(Role::User),
        reason: SCHEDULING,
    },
    Open {
        name: "processes.scheduler",
        level: Some(Level::Landlock),
        role: Some(Role::User),
        reason: SCHEDULING,
    },
    Open {
        name: "processes.io-priority",
        level: Some(Level::Landlock),
        role: Some(Role::User),
        reason: SCHEDULING,
    },
    Open { name: "inheritance.groups", level: None, role: None, reason: GROUPS },
    Open {
        name: "limits.memory-split",
        level: None,
        role: Some(Role::User),
        reason: "without a control group, memory is limited for each process alone",
    },
];

/// The reason why this attempt gets out, if that is known.
pub(crate) fn find(name: &str, level: Level, role: Role) -> Option<&'static str> {
    let fits = |row: &&Open| {
        row.name == name
            && row.level.is_none_or(|only| only == level)
            && row.role.is_none_or(|only| only == role)
    };
    OPEN.iter().find(fits).map(|row| row.reason)
}
