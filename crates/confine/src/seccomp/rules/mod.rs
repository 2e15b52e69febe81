//! The list: what is refused, and why. One file a subject, one rule an entry.
//!
//! How to read an entry: *refuse this call with this error, given these arguments, because …*. The
//! rules of one call stand together, and the first that matches decides.
//!
//! Which error: `EPERM` for what is forbidden, as a caller without the privilege would get it and
//! as container engines answer; `ENOSYS` where programs have an older way that they then take;
//! the network's own errors for sockets.

mod files;
mod ipc;
mod kernel;
mod machine;
mod mounts;
mod namespaces;
mod obsolete;
mod processes;
mod sockets;
mod terminals;

use super::{Errno, Rule};

const EPERM: Errno = Errno::Perm;
const EACCES: Errno = Errno::Access;
const ENOSYS: Errno = Errno::NoSys;
const EPROTONOSUPPORT: Errno = Errno::ProtoNoSupport;
const EAFNOSUPPORT: Errno = Errno::AfNoSupport;

/// Every rule, of every profile.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        processes::RULES,
        kernel::RULES,
        namespaces::RULES,
        mounts::RULES,
        machine::RULES,
        sockets::RULES,
        ipc::RULES,
        terminals::RULES,
        files::RULES,
        obsolete::RULES,
    ]
    .into_iter()
    .flatten()
}
