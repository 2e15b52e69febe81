//! Calls that no current program makes, some of which the kernel has dropped already. `ENOSYS` is
//! what a kernel without them answers.

use super::super::{Rule, call};
use super::ENOSYS;

pub(super) const RULES: &[Rule] = &[
    Rule::refuse(call::LOOKUP_DCOOKIE, ENOSYS, "Tells paths by number; gone since Linux 6.7."),
    Rule::refuse(call::NFSSERVCTL, ENOSYS, "Gone since Linux 3.1."),
    Rule::refuse(call::USELIB, ENOSYS, "Loads libraries in a format of the past."),
    Rule::refuse(call::USTAT, ENOSYS, "Tells of file systems by device number, without a path."),
    Rule::refuse(call::SYSFS, ENOSYS, "Lists file system types."),
    Rule::refuse(call::SYSCTL, ENOSYS, "Reads kernel settings without a path; gone since 5.5."),
    Rule::refuse(call::REMAP_FILE_PAGES, ENOSYS, "Emulated since Linux 4.0 and rarely tested."),
];
