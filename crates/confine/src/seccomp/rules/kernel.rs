//! Large or privileged interfaces of the kernel that ordinary programs do without, and that have
//! been the way in of many exploits.

use super::super::{ArgTest, Rule, call};
use super::{ENOSYS, EPERM};

pub(super) const RULES: &[Rule] = &[
    Rule::refuse(call::BPF, EPERM, "Loads programs into the kernel."),
    Rule::refuse(
        call::IO_URING_SETUP,
        ENOSYS,
        "Makes sockets and opens files by ring entries, which no filter sees.",
    ),
    Rule::refuse(call::IO_URING_ENTER, ENOSYS, "Drives a ring, also one that was inherited."),
    Rule::refuse(call::IO_URING_REGISTER, ENOSYS, "Can make a ring since Linux 6.13."),
    Rule::refuse(call::KEYCTL, EPERM, "Keyrings are shared with the host's session."),
    Rule::refuse(call::ADD_KEY, EPERM, "Keyrings are shared with the host's session."),
    Rule::refuse(call::REQUEST_KEY, EPERM, "Starts a helper of the host, outside of the sandbox."),
    Rule::refuse(
        call::USERFAULTFD,
        EPERM,
        "Stops the kernel in mid-copy, which makes races exact.",
    ),
    Rule::refuse(call::PERF_EVENT_OPEN, EPERM, "Measures other processes and the kernel."),
    Rule::refuse(call::MEMFD_SECRET, ENOSYS, "Makes memory that can't be swapped or inspected."),
    Rule::refuse(call::MODIFY_LDT, ENOSYS, "Makes 16-bit segments, a rare and faulty path."),
    Rule::allow(call::PERSONALITY, "The ordinary personality.").given(&[ArgTest::int(0, 0)]),
    Rule::allow(call::PERSONALITY, "A question, not a change.").given(&[ArgTest::int(0, u32::MAX)]),
    Rule::refuse(
        call::PERSONALITY,
        EPERM,
        "Turns off address randomization and protections of memory, also across exec.",
    ),
];
