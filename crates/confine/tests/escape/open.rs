//! Attempts that are not held yet, each with the reason. A row for one that is held is an error.

use crate::confined::Level;
use crate::stage::Role;

struct Open {
    name: &'static str,
    level: Option<Level>,
    role: Option<Role>,
    reason: &'static str,
}

/// At full confinement with named paths, whoever asks.
const fn full(name: &'static str, reason: &'static str) -> Open {
    Open { name, level: Some(Level::Full), role: None, reason }
}

/// For an ordinary user, at every level.
const fn user(name: &'static str, reason: &'static str) -> Open {
    Open { name, level: None, role: Some(Role::User), reason }
}

/// Without namespaces, for an ordinary user.
const fn user_landlock(name: &'static str, reason: &'static str) -> Open {
    Open { name, level: Some(Level::Landlock), role: Some(Role::User), reason }
}

/// Without namespaces, whoever asks.
const fn landlock(name: &'static str, reason: &'static str) -> Open {
    Open { name, level: Some(Level::Landlock), role: None, reason }
}

const ABSENT: &str = "a protected path that does not exist yet can be made, and the report says so";
const METADATA: &str = "Landlock has no right for modes, times and attributes of visible files";
const ONE_BY_ONE: &str = "without a control group, memory is limited for each process alone";

const OPEN: &[Open] = &[
    full("files.agent-settings", ABSENT),
    full("files.editor-tasks", ABSENT),
    full("files.envrc", ABSENT),
    full("files.tool-servers", ABSENT),
    full("files.shell-start", ABSENT),
    landlock("files.chmod-read-only", METADATA),
    landlock("files.times-read-only", METADATA),
    landlock("files.xattr-read-only", METADATA),
    user_landlock(
        "inheritance.capabilities-bounding",
        "an ordinary user cannot empty that set; no new privileges makes it useless",
    ),
    user("inheritance.groups", "an ordinary user cannot leave its supplementary groups"),
    user("limits.memory-split", ONE_BY_ONE),
    user("limits.memory-file", ONE_BY_ONE),
];

/// The reason why this attempt gets out, if that is known.
pub(crate) fn find(name: &str, level: Level, role: Role) -> Option<&'static str> {
    let fits = |row: &&Open| {
        row.name == name
            && row.level.is_none_or(|only| only == level || is_made_otherwise(only, level))
            && row.role.is_none_or(|only| only == role)
    };
    OPEN.iter().find(fits).map(|row| row.reason)
}

/// Whether a row of full confinement stands for the same by another maker.
fn is_made_otherwise(row: Level, level: Level) -> bool {
    (row, level) == (Level::Full, Level::Bubblewrap)
}

/// The attempts that rows are about.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    OPEN.iter().map(|row| row.name)
}
