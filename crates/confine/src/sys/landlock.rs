//! Landlock's three calls (Linux 5.13; the scopes and the network need later versions).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use super::descriptors::check_long;

/// What a ruleset handles: what is handled and not allowed by a rule is refused.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Attributes {
    /// Rights on files (`LANDLOCK_ACCESS_FS_…`).
    pub(crate) files: u64,
    /// Rights on the network (`LANDLOCK_ACCESS_NET_…`), version 4.
    pub(crate) network: u64,
    /// What stays within the sandbox (`LANDLOCK_SCOPE_…`), version 6.
    pub(crate) scopes: u64,
}

/// `struct landlock_path_beneath_attr`, which the kernel packs.
#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: RawFd,
}

/// The version of Landlock that the kernel offers, or why it offers none.
pub(crate) fn abi() -> io::Result<u32> {
    // SAFETY: with the version flag the kernel takes no structure and returns a number.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<u8>(), 0_usize, 1_u32)
    };
    check_long(version)?;
    u32::try_from(version).map_err(io::Error::other)
}

/// A ruleset that is being made.
pub(crate) struct Ruleset(OwnedFd);

impl Ruleset {
    /// An empty ruleset: all that it handles is refused.
    pub(crate) fn new(attributes: Attributes) -> io::Result<Self> {
        let size = attributes.size();
        // SAFETY: the structure lives across the call and is at least `size` bytes long.
        let number = unsafe {
            libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, size, 0_u32)
        };
        check_long(number)?;
        let number = RawFd::try_from(number).map_err(io::Error::other)?;
        // SAFETY: the kernel just made the descriptor and nobody else knows it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(number) }))
    }

    /// Allows these rights at and below a path, which an `O_PATH` descriptor names.
    pub(crate) fn allow(&self, path: BorrowedFd<'_>, allowed: u64) -> io::Result<()> {
        let rule = PathBeneath { allowed, parent: path.as_raw_fd() };
        // SAFETY: 1 says that the rule is a path with its rights, and it lives across the call.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                self.0.as_raw_fd(),
                1_u32,
                &raw const rule,
                0_u32,
            )
        };
        check_long(answer)
    }

    /// Restricts this process and all it starts.
    pub(crate) fn restrict(self) -> io::Result<()> {
        // SAFETY: landlock_restrict_self takes two numbers.
        let answer =
            unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.0.as_raw_fd(), 0_u32) };
        check_long(answer)
    }
}

impl Attributes {
    /// As much of the structure as is used, so that an older kernel takes it.
    fn size(self) -> usize {
        match self {
            Self { scopes: 1.., .. } => 24,
            Self { network: 1.., .. } => 16,
            _ => 8,
        }
    }
}
