//! The architectures a filter can be made for.
//!
//! Both are little-endian and have 64-bit arguments; a filter relies on that when it loads half an
//! argument. Source: `include/uapi/linux/audit.h`.

use std::fmt;

/// An architecture whose system calls are in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arch {
    /// x86-64, without its x32 and i386 entries.
    X86_64,
    /// 64-bit ARM, little-endian, without its 32-bit entry.
    Aarch64,
}

impl Arch {
    /// The newest call whose meaning was reviewed: `file_setattr`, of Linux 6.17 and 6.18. Since
    /// Linux 5.0 a new call has the same number on all architectures.
    pub(super) const NEWEST: u32 = 469;

    /// The architecture this program was built for, where it is one of the table's.
    #[must_use]
    pub const fn native() -> Option<Self> {
        if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
            Some(Self::X86_64)
        } else if cfg!(all(target_arch = "aarch64", target_endian = "little")) {
            Some(Self::Aarch64)
        } else {
            None
        }
    }

    /// What the kernel writes in `seccomp_data.arch` for a call by this architecture's entry:
    /// the ELF machine number, with a bit for 64-bit and one for little-endian.
    #[must_use]
    pub const fn audit(self) -> u32 {
        match self {
            Self::X86_64 => 0xc000_003e,
            Self::Aarch64 => 0xc000_00b7,
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        })
    }
}
