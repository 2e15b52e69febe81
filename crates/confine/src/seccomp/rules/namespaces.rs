//! New namespaces. In a user namespace of its own a process has every capability again, and with
//! them the parts of the kernel that only root reaches otherwise.

use super::super::{ArgTest, Rule, call};
use super::{ENOSYS, EPERM};

/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`.
const NAMESPACES: u32 =
    0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000;

/// `CLONE_NEWTIME`. For `clone` this bit is part of the signal that tells of the child's end.
const TIME_NAMESPACE: u32 = 0x80;

pub(super) const RULES: &[Rule] = &[
    Rule::refuse(call::UNSHARE, EPERM, "A new namespace gives back capabilities.")
        .given(&[ArgTest::any(0, NAMESPACES | TIME_NAMESPACE)]),
    Rule::refuse(call::CLONE, EPERM, "A new namespace gives back capabilities.")
        .given(&[ArgTest::any(0, NAMESPACES)]),
    Rule::refuse(
        call::CLONE3,
        ENOSYS,
        "Its flags are behind a pointer; C libraries take `clone` instead, for threads too.",
    ),
    Rule::refuse(call::SETNS, EPERM, "Enters another namespace."),
];
