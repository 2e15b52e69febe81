//! The machine as a whole: kernel, modules, swap, quotas, clock, name. All of it needs a
//! capability that a confined process does not have; the filter says no a second time.

use super::super::{Rule, call};
use super::EPERM;

pub(super) const RULES: &[Rule] = &[
    Rule::refuse(call::KEXEC_LOAD, EPERM, "Replaces the kernel."),
    Rule::refuse(call::KEXEC_FILE_LOAD, EPERM, "Replaces the kernel."),
    Rule::refuse(call::INIT_MODULE, EPERM, "Loads code into the kernel."),
    Rule::refuse(call::FINIT_MODULE, EPERM, "Loads code into the kernel."),
    Rule::refuse(call::DELETE_MODULE, EPERM, "Removes code from the kernel."),
    Rule::refuse(call::REBOOT, EPERM, "Ends the machine, or a PID namespace."),
    Rule::refuse(call::SWAPON, EPERM, "Changes the machine's memory."),
    Rule::refuse(call::SWAPOFF, EPERM, "Changes the machine's memory."),
    Rule::refuse(call::ACCT, EPERM, "Writes a record of every process to a file."),
    Rule::refuse(call::QUOTACTL, EPERM, "Changes what others may store."),
    Rule::refuse(call::QUOTACTL_FD, EPERM, "Changes what others may store."),
    Rule::refuse(call::SETTIMEOFDAY, EPERM, "Changes the machine's clock."),
    Rule::refuse(call::CLOCK_SETTIME, EPERM, "Changes the machine's clock."),
    Rule::refuse(call::ADJTIMEX, EPERM, "Changes the machine's clock."),
    Rule::refuse(call::CLOCK_ADJTIME, EPERM, "Changes the machine's clock."),
    Rule::refuse(call::SETHOSTNAME, EPERM, "Changes the machine's name."),
    Rule::refuse(call::SETDOMAINNAME, EPERM, "Changes the machine's name."),
    Rule::refuse(call::IOPL, EPERM, "Gives access to the hardware's ports."),
    Rule::refuse(call::IOPERM, EPERM, "Gives access to the hardware's ports."),
    Rule::refuse(call::SYSLOG, EPERM, "Reads the kernel's log, with addresses and other's data."),
    Rule::refuse(call::VHANGUP, EPERM, "Ends the terminal for everybody on it."),
];
