//! Terminals: requests that act on whoever else uses the same one. The kernel reads a request as
//! 32 bits, and so do these rules.

use super::super::{ArgTest, Rule, call};
use super::EPERM;

const TIOCSTI: ArgTest = ArgTest::int(1, 0x5412);
const TIOCLINUX: ArgTest = ArgTest::int(1, 0x541c);
const TIOCSETD: ArgTest = ArgTest::int(1, 0x5423);

pub(super) const RULES: &[Rule] = &[
    Rule::refuse(call::IOCTL, EPERM, "TIOCSTI types into the terminal of the host's shell.")
        .given(&[TIOCSTI]),
    Rule::refuse(call::IOCTL, EPERM, "TIOCLINUX pastes into the console.").given(&[TIOCLINUX]),
    Rule::refuse(
        call::IOCTL,
        EPERM,
        "TIOCSETD loads line disciplines, rarely used kernel modules.",
    )
    .given(&[TIOCSETD]),
];
