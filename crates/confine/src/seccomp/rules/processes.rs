//! Calls that reach into other processes. A PID namespace hides those of the host; these rules
//! hold where there is none, and between the processes of one sandbox and its init.

use super::super::{ArgTest, Call, Rule, When, call};
use super::{ENOSYS, EPERM};

/// Which processes `setpriority` is about: one, or a group.
const PRIO_PROCESS: u32 = 0;
const PRIO_PGRP: u32 = 1;
/// The same for `ioprio_set`.
const IOPRIO_WHO_PROCESS: u32 = 1;
/// The caller, for all of these.
const CALLER: u32 = 0;

/// An exception for the caller itself, where others can be named. A filter does not know its process's
/// number, so the caller can't name itself by that.
const fn own(call: Call, tests: &'static [ArgTest]) -> Rule {
    Rule::allow(call, "A process may slow itself.").given(tests).only(When::PidsShared)
}

/// A call that changes when and where a process runs, where others can be named.
const fn of_others(call: Call) -> Rule {
    Rule::refuse(call, EPERM, "Slows the user's other processes.").only(When::PidsShared)
}

pub(super) const RULES: &[Rule] = &[
    Rule::refuse(
        call::PTRACE,
        EPERM,
        "Reads and steers other processes, also ones without a filter.",
    ),
    Rule::refuse(call::PROCESS_VM_READV, EPERM, "Reads another process's memory."),
    Rule::refuse(call::PROCESS_VM_WRITEV, EPERM, "Writes another process's memory."),
    Rule::refuse(call::PROCESS_MADVISE, EPERM, "Changes how another process's memory is kept."),
    Rule::refuse(
        call::KCMP,
        EPERM,
        "Tells about kernel addresses and other processes' descriptors.",
    ),
    Rule::refuse(call::PIDFD_GETFD, EPERM, "Takes a descriptor out of another process."),
    Rule::allow(call::PRLIMIT64, "A process may lower its own limits.")
        .given(&[ArgTest::int(0, 0)]),
    Rule::allow(call::PRLIMIT64, "Reading another's limits changes nothing.")
        .given(&[ArgTest::long(2, 0)]),
    Rule::refuse(call::PRLIMIT64, EPERM, "Sets limits that end the user's other processes."),
    Rule::refuse(call::MOVE_PAGES, EPERM, "Moves another process's memory and tells where it is."),
    Rule::refuse(call::MIGRATE_PAGES, EPERM, "Moves another process's memory."),
    own(call::SETPRIORITY, &[ArgTest::int(0, PRIO_PROCESS), ArgTest::int(1, CALLER)]),
    own(call::SETPRIORITY, &[ArgTest::int(0, PRIO_PGRP), ArgTest::int(1, CALLER)]),
    of_others(call::SETPRIORITY),
    own(call::SCHED_SETPARAM, &[ArgTest::int(0, CALLER)]),
    of_others(call::SCHED_SETPARAM),
    own(call::SCHED_SETSCHEDULER, &[ArgTest::int(0, CALLER)]),
    of_others(call::SCHED_SETSCHEDULER),
    own(call::SCHED_SETATTR, &[ArgTest::int(0, CALLER)]),
    of_others(call::SCHED_SETATTR),
    own(call::SCHED_SETAFFINITY, &[ArgTest::int(0, CALLER)]),
    of_others(call::SCHED_SETAFFINITY),
    own(call::IOPRIO_SET, &[ArgTest::int(0, IOPRIO_WHO_PROCESS), ArgTest::int(1, CALLER)]),
    of_others(call::IOPRIO_SET),
    Rule::refuse(
        call::PIDFD_OPEN,
        ENOSYS,
        "Holds on to a process of the host, to signal it or to learn of its end.",
    )
    .only(When::PidsShared),
];
