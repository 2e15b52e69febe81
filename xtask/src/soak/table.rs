//! Which tests have a long form.

/// A test with a long form.
#[derive(Debug)]
pub(super) struct Soak {
    pub(super) name: &'static str,
    /// What is counted.
    pub(super) about: &'static str,
    pub(super) package: &'static str,
    pub(super) test: &'static str,
    /// The flag of the test that takes the count.
    pub(super) flag: &'static str,
    /// The count of the long form.
    pub(super) count: u64,
}

/// All of them.
pub(super) const SOAKS: &[Soak] = &[
    Soak {
        name: "agents",
        about: "agents side by side, every byte of theirs compared",
        package: "spawner",
        test: "many",
        flag: "--agents",
        count: 1000,
    },
    Soak {
        name: "killed",
        about: "hosts of agents killed at random moments",
        package: "spawner",
        test: "many",
        flag: "--kills",
        count: 100,
    },
    Soak {
        name: "line",
        about: "bytes that an agent writes in one line",
        package: "spawner",
        test: "many",
        flag: "--line-bytes",
        count: 200_000_000,
    },
    Soak {
        name: "docker",
        about: "hosts of sessions in containers killed at random moments",
        package: "rlm-backend",
        test: "orphans",
        flag: "--kills",
        count: 100,
    },
    Soak {
        name: "flood",
        about: "bytes that a session prints to each of its streams",
        package: "rlm-backend",
        test: "flood",
        flag: "--bytes",
        count: 10_000_000_000,
    },
    Soak {
        name: "sessions",
        about: "sessions made, used and ended one after the other",
        package: "rlm-backend",
        test: "turnover",
        flag: "--sessions",
        count: 1000,
    },
    Soak {
        name: "survive",
        about: "hosts killed at random moments, on each of two levels",
        package: "confine",
        test: "survive",
        flag: "--rounds",
        count: 100,
    },
];
