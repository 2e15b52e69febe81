//! What one line of the list says: a call, a condition on its arguments, an answer, a reason.

use std::fmt;

use super::{Call, Profile};

/// One line of the list. A call's rules are tried in their order and the first that matches
/// decides; a call that none matches is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The call it is about.
    pub call: Call,
    /// What must all hold of the arguments; empty for every use of the call.
    pub tests: &'static [ArgTest],
    /// In which profiles the rule is there at all.
    pub when: When,
    /// The answer.
    pub verdict: Verdict,
    /// Why, in one sentence.
    pub reason: &'static str,
}

impl Rule {
    /// A rule that answers every use of a call with an error.
    pub(super) const fn refuse(call: Call, errno: Errno, reason: &'static str) -> Self {
        Self { call, tests: &[], when: When::Always, verdict: Verdict::Refuse(errno), reason }
    }

    /// An exception: a rule that lets a call through before a later rule refuses it.
    pub(super) const fn allow(call: Call, reason: &'static str) -> Self {
        Self { call, tests: &[], when: When::Always, verdict: Verdict::Allow, reason }
    }

    /// The same rule, for calls with such arguments only.
    pub(super) const fn given(mut self, tests: &'static [ArgTest]) -> Self {
        self.tests = tests;
        self
    }

    /// The same rule, in some profiles only.
    pub(super) const fn only(mut self, when: When) -> Self {
        self.when = when;
        self
    }
}

/// In which profiles a rule is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In all.
    Always,
    /// Where TCP and UDP may be used.
    InetOpen,
    /// Where they may not.
    InetClosed,
    /// Where Unix sockets may be used.
    UnixOpen,
    /// Where they may not.
    UnixClosed,
    /// Where the IPC namespace is the host's.
    IpcShared,
    /// Where the host's processes can be named.
    PidsShared,
}

impl When {
    /// Whether a rule is there in this profile.
    #[must_use]
    pub const fn holds(self, profile: Profile) -> bool {
        match self {
            Self::Always => true,
            Self::InetOpen => profile.inet,
            Self::InetClosed => !profile.inet,
            Self::UnixOpen => profile.unix,
            Self::UnixClosed => !profile.unix,
            Self::IpcShared => !profile.ipc,
            Self::PidsShared => !profile.pids,
        }
    }
}

/// A condition on one argument. Arguments are 64 bits and are counted from 0.
///
/// Of an argument that is an `int` the kernel reads the low half and ignores the high one, so a
/// test of it must do the same: `TIOCSTI | 1 << 32` is `TIOCSTI`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgTest {
    /// The bits in `mask` are those of `value`.
    Equals {
        /// Which argument.
        arg: u8,
        /// The bits that count.
        mask: u64,
        /// What they must be.
        value: u64,
    },
    /// At least one of these bits is set.
    HasAny {
        /// Which argument.
        arg: u8,
        /// The bits.
        bits: u64,
    },
}

impl ArgTest {
    /// An argument that the kernel reads as 32 bits, with this value.
    pub(super) const fn int(arg: u8, value: u32) -> Self {
        Self::bits(arg, u32::MAX, value)
    }

    /// An argument that the kernel reads as 32 bits, some of which have this value.
    pub(super) const fn bits(arg: u8, mask: u32, value: u32) -> Self {
        Self::Equals { arg, mask: mask as u64, value: value as u64 }
    }

    /// An argument that the kernel reads as 64 bits (a `long` or a pointer), with this value.
    pub(super) const fn long(arg: u8, value: u64) -> Self {
        Self::Equals { arg, mask: u64::MAX, value }
    }

    /// An argument with at least one of these bits.
    pub(super) const fn any(arg: u8, bits: u32) -> Self {
        Self::HasAny { arg, bits: bits as u64 }
    }

    /// Which argument it is about.
    pub(super) const fn arg(self) -> u8 {
        match self {
            Self::Equals { arg, .. } | Self::HasAny { arg, .. } => arg,
        }
    }
}

/// How a call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It is made.
    Allow,
    /// It is not made and returns an error.
    Refuse(Errno),
    /// The process is ended, as by an unblockable `SIGSYS`.
    Kill,
}

impl Verdict {
    /// What a filter returns to say so: an action in the high half, an error in the low one.
    pub(super) fn code(self) -> u32 {
        match self {
            Self::Allow => 0x7fff_0000,
            Self::Refuse(errno) => 0x0005_0000 | u32::from(errno.number()),
            Self::Kill => 0x8000_0000,
        }
    }
}

/// The errors a rule can answer with. Their numbers are the same on all architectures of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Errno {
    /// `EPERM`: what a caller without the right to it would get.
    Perm,
    /// `EACCES`: what a firewall or a path without permission gives.
    Access,
    /// `ENOSYS`: a kernel without this call; programs fall back to an older one.
    NoSys,
    /// `EPROTONOSUPPORT`: a kernel without this protocol.
    ProtoNoSupport,
    /// `EAFNOSUPPORT`: a kernel without this kind of socket.
    AfNoSupport,
}

impl Errno {
    /// The kernel's number for it.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::Perm => 1,
            Self::Access => 13,
            Self::NoSys => 38,
            Self::ProtoNoSupport => 93,
            Self::AfNoSupport => 97,
        }
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Perm => "EPERM",
            Self::Access => "EACCES",
            Self::NoSys => "ENOSYS",
            Self::ProtoNoSupport => "EPROTONOSUPPORT",
            Self::AfNoSupport => "EAFNOSUPPORT",
        })
    }
}
