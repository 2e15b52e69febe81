//! The seccomp filter: which system calls a confined process may not make, and the small compiler
//! that turns that list into a program the kernel runs.
//!
//! The list is the folder `rules`: one [`Rule`] per refusal (or exception from one), each with its
//! reason. [`Filter::compile`] makes a classic BPF program of it for one [`Arch`] and one
//! [`Profile`]; the program finds a call's rules by binary search over the call numbers, so it is
//! short for every call.
//!
//! What holds for every filter made here:
//!
//! - A call by another architecture's entry (i386 by `int 0x80`) kills the process: its numbers
//!   mean other things.
//! - A number above the newest one reviewed gets `ENOSYS`, as on an older kernel. The x32 entry is
//!   a bit above all numbers and so is closed by the same comparison.
//! - Everything else that no rule names is allowed.
//!
//! Left out on purpose: loading the program into the kernel (it needs `unsafe`), and everything a
//! filter can't see: paths and structures behind pointers.
//!
//! Source: seccomp(2), `Documentation/userspace-api/seccomp_filter.rst`, call numbers of Linux 6.18.
//!
//! ```
//! use confine::seccomp::{Arch, Filter, Profile};
//!
//! let filter = Filter::compile(Arch::X86_64, Profile::NAMESPACES)?;
//! assert!(filter.instructions().len() <= 180);
//! # Ok::<(), confine::seccomp::FilterError>(())
//! ```

mod arch;
mod assembler;
mod call;
mod compile;
mod error;
mod filter;
mod plan;
mod profile;
mod rule;
mod rules;
#[cfg(test)]
mod tests;

pub use arch::Arch;
pub use call::Call;
pub use error::FilterError;
pub use filter::{Filter, Instruction};
pub use profile::Profile;
pub use rule::{ArgTest, Errno, Rule, Verdict, When};
pub use rules::rules;
