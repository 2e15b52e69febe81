//! Giving up privileges, in the program's process and in init.

use std::io;

use rustix::process::{DumpableBehavior, set_child_subreaper, set_dumpable_behavior};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
    set_no_new_privs,
};

/// No program that is started gains anything, by set-user-ID bits or file capabilities.
pub(super) fn no_new() -> io::Result<()> {
    Ok(set_no_new_privs(true)?)
}

/// Takes every capability out of the bounding set, and makes user 0 an ordinary one.
pub(super) fn empty_bounding_set() -> io::Result<()> {
    let mut number = 0;
    while let Some(capability) = 1_u64.checked_shl(number).map(CapabilitySet::from_bits_retain) {
        match remove_capability_from_bounding_set(capability) {
            Ok(()) => number += 1,
            // The number after the last capability that the kernel knows.
            Err(rustix::io::Errno::INVAL) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let locked = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    Ok(set_capabilities_secure_bits(locked)?)
}

/// Empties every set that is left.
pub(super) fn drop_capabilities() -> io::Result<()> {
    clear_ambient_capability_set()?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, none)?)
}

/// Init keeps nothing either, and shows nothing of itself.
pub(super) fn give_up_as_init() -> io::Result<()> {
    no_new()?;
    drop_capabilities()?;
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Makes orphans children of this process, where no namespace does.
pub(super) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(rustix::process::getpid()))?)
}
