//! `mount_setattr(2)`, Linux 5.12: attributes of a mount and of all below it in one call.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::descriptors::check_long;

/// An attribute that a mount can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attribute {
    /// Nothing can be written through it.
    ReadOnly,
    /// Set-user-ID bits have no effect.
    NoSetuid,
    /// Device files can't be opened.
    NoDevices,
    /// Programs can't be started.
    NoExecute,
}

impl Attribute {
    /// The kernel's bit (`MOUNT_ATTR_…`).
    fn bit(self) -> u64 {
        match self {
            Self::ReadOnly => 0x1,
            Self::NoSetuid => 0x2,
            Self::NoDevices => 0x4,
            Self::NoExecute => 0x8,
        }
    }
}

/// Gives the mount that `mount` is the root of these attributes, and those below it if `recursive`.
pub(crate) fn set_attributes(
    mount: BorrowedFd<'_>,
    attributes: &[Attribute],
    recursive: bool,
) -> io::Result<()> {
    let request = libc::mount_attr {
        attr_set: attributes.iter().fold(0, |bits, attribute| bits | attribute.bit()),
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty string that ends with NUL, the structure lives across the call
    // and the size is its size.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const request,
            size_of_val(&request),
        )
    };
    check_long(answer)
}
