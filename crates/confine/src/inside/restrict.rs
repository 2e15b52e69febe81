//! Limits and Landlock: restrictions that a process puts on itself.

use std::ffi::CString;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::plan::{self, Landlock};
use crate::sys::{Attributes, Ruleset};

/// Rights of Landlock on files, and the version of Landlock that each came with.
mod right {
    pub(super) const EXECUTE: u64 = 1 << 0;
    pub(super) const WRITE_FILE: u64 = 1 << 1;
    pub(super) const READ_FILE: u64 = 1 << 2;
    pub(super) const READ_DIR: u64 = 1 << 3;
    /// All of version 1.
    pub(super) const FIRST: u64 = (1 << 13) - 1;
    /// Version 2: links and renames between directories.
    pub(super) const REFER: u64 = 1 << 13;
    /// Version 3.
    pub(super) const TRUNCATE: u64 = 1 << 14;
    /// Version 5: `ioctl` on device files.
    pub(super) const IOCTL_DEVICE: u64 = 1 << 15;
    /// Making device files: never allowed.
    pub(super) const MAKE_DEVICES: u64 = (1 << 6) | (1 << 11);
    /// What makes sense for something that is no directory.
    pub(super) const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE;
    /// Version 4: binding and connecting TCP sockets.
    pub(super) const TCP: u64 = 0b11;
    /// Version 6: abstract unix sockets and signals stay within.
    pub(super) const SCOPES: u64 = 0b11;
}

/// Sets each limit, soft and hard.
pub(super) fn limit(limits: &[(plan::Rlimit, u64)]) -> io::Result<()> {
    for &(which, value) in limits {
        let resource = match which {
            plan::Rlimit::Data => Resource::Data,
            plan::Rlimit::Processes => Resource::Nproc,
            plan::Rlimit::Cpu => Resource::Cpu,
            plan::Rlimit::FileSize => Resource::Fsize,
            plan::Rlimit::OpenFiles => Resource::Nofile,
            plan::Rlimit::Core => Resource::Core,
        };
        // The kernel signals at the soft limit of processor time and kills at the hard one.
        let hard = if which == plan::Rlimit::Cpu { value.saturating_add(1) } else { value };
        setrlimit(resource, Rlimit { current: Some(value), maximum: Some(hard) })?;
    }
    Ok(())
}

/// Restricts this process by the rules.
pub(super) fn landlock(rules: &Landlock) -> io::Result<()> {
    let handled = handled_files(rules.abi);
    let ruleset = Ruleset::new(Attributes {
        files: handled,
        network: if rules.refuse_tcp && rules.abi >= 4 { right::TCP } else { 0 },
        scopes: if rules.abi >= 6 { right::SCOPES } else { 0 },
    })?;
    let reading = right::EXECUTE | right::READ_FILE | right::READ_DIR;
    let writing = handled & !right::MAKE_DEVICES & !right::IOCTL_DEVICE;
    allow(&ruleset, &rules.readable, reading)?;
    allow(&ruleset, &rules.writable, writing)?;
    ruleset.restrict()
}

/// The rights that a version of Landlock can handle.
fn handled_files(abi: u32) -> u64 {
    let since = [(2, right::REFER), (3, right::TRUNCATE), (5, right::IOCTL_DEVICE)];
    since
        .iter()
        .filter(|(version, _)| abi >= *version)
        .fold(right::FIRST, |all, (_, one)| all | one)
}

/// Allows rights on paths; all of them must be there.
fn allow(ruleset: &Ruleset, paths: &[CString], rights: u64) -> io::Result<()> {
    for path in paths {
        let place = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let is_directory = FileType::from_raw_mode(fstat(&place)?.st_mode) == FileType::Directory;
        let rights = if is_directory { rights } else { rights & right::OF_FILES };
        ruleset.allow(place.as_fd(), rights)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{handled_files, right};

    #[test]
    fn later_rights_are_handled_by_versions_that_know_them() {
        assert_eq!(handled_files(1), (1 << 13) - 1);
        assert_eq!(handled_files(2), (1 << 14) - 1);
        assert_eq!(handled_files(3), (1 << 15) - 1);
        assert_eq!(handled_files(4), (1 << 15) - 1);
        assert_eq!(handled_files(7), (1 << 16) - 1);
        assert_eq!(handled_files(7) & right::IOCTL_DEVICE, right::IOCTL_DEVICE);
    }
}
