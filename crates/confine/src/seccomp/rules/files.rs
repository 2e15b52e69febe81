//! The set-user-id bit. A file in a writable directory outlives the sandbox; with this bit whoever
//! starts it later acts as the operator, or as root where the operator is root.
//!
//! The bit can also be asked for when a file is made, but writing to a file takes it away again
//! from a caller without capabilities, so what is left is an empty file. The set-group-id bit stays
//! open: on directories it is common and harmless, and a filter can't tell a directory from a file.

use super::super::{ArgTest, Call, Rule, call};
use super::EPERM;

const SET_USER_ID: u32 = 0o4000;

const fn with_mode(call: Call, tests: &'static [ArgTest]) -> Rule {
    Rule::refuse(call, EPERM, "Leaves a program on the host that acts as its owner.").given(tests)
}

pub(super) const RULES: &[Rule] = &[
    with_mode(call::CHMOD, &[ArgTest::any(1, SET_USER_ID)]),
    with_mode(call::FCHMOD, &[ArgTest::any(1, SET_USER_ID)]),
    with_mode(call::FCHMODAT, &[ArgTest::any(2, SET_USER_ID)]),
    with_mode(call::FCHMODAT2, &[ArgTest::any(2, SET_USER_ID)]),
];
