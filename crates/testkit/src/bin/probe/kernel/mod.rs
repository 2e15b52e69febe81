//! Attempts on the kernel's own surface: calls that a confined program has no business making.
//!
//! Calls that would change the machine are made with arguments that fail after the permission
//! check, so that reaching them is seen and nothing happens.

mod identity;
mod keys;
mod machine;
mod mounts;
mod namespaces;
mod objects;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::attempt::Attempt;

/// The tables of this group.
pub(crate) const TABLES: &[&[Attempt]] = &[
    objects::ATTEMPTS,
    keys::ATTEMPTS,
    namespaces::ATTEMPTS,
    mounts::ATTEMPTS,
    machine::ATTEMPTS,
    identity::ATTEMPTS,
    #[cfg(target_arch = "x86_64")]
    x86::ATTEMPTS,
];
