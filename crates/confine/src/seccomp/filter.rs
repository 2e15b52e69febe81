//! A finished filter: a classic BPF program.
//!
//! Source: `include/uapi/linux/filter.h`, `include/uapi/linux/bpf_common.h`.

use super::{Arch, FilterError, Profile, compile, rules};

/// The most instructions the kernel takes in one program (`BPF_MAXINSNS`).
pub(super) const MAX_INSTRUCTIONS: usize = 4096;

/// One instruction, laid out as the kernel's `struct sock_filter`: a slice of these may be handed
/// to the kernel as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Instruction {
    /// The operation.
    pub code: u16,
    /// How many instructions to skip when a comparison holds.
    pub jt: u8,
    /// How many instructions to skip when it does not.
    pub jf: u8,
    /// The operand.
    pub k: u32,
}

/// The operations a filter uses. These, and no others, are those by which the kernel can tell at
/// load time that a call is always allowed, and then skips the program for it.
pub(super) mod op {
    /// `A = data[k]`, 32 bits at byte offset `k`.
    pub(crate) const LOAD: u16 = 0x20;
    /// `A &= k`.
    pub(crate) const AND: u16 = 0x54;
    /// Skip `k` instructions.
    pub(crate) const JUMP: u16 = 0x05;
    /// `A == k`.
    pub(crate) const IF_EQUAL: u16 = 0x15;
    /// `A >= k`, unsigned.
    pub(crate) const IF_AT_LEAST: u16 = 0x35;
    /// `A & k != 0`.
    pub(crate) const IF_ANY_BIT: u16 = 0x45;
    /// The program ends with `k`.
    pub(crate) const RETURN: u16 = 0x06;
}

/// A seccomp filter, ready to be loaded. The same arch, profile and rules give the same program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    instructions: Vec<Instruction>,
}

impl Filter {
    /// The filter for one architecture and profile, from this crate's rules.
    ///
    /// # Errors
    /// When the rules contradict each other or are too many; see [`FilterError`].
    pub fn compile(arch: Arch, profile: Profile) -> Result<Self, FilterError> {
        let instructions = compile::compile(rules(), arch, profile)?;
        Ok(Self { instructions })
    }

    /// The program, first instruction first. Between 1 and 4096 instructions, so its length fits
    /// the 16 bits of `struct sock_fprog`.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }
}
