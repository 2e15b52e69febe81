//! Calls that reach into other processes. A PID namespace hides those of the host; these rules
//! hold where there is none, and between the processes of one sandbox and its init.

use super::super::{ArgTest, Rule, call};
use super::EPERM;

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
];
