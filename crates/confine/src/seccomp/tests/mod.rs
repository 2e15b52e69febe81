//! Tests of the filter without a kernel: the program, run by an interpreter, decides what the
//! rules say.

mod assembling;
mod interpreter;
mod list;
#[cfg(target_os = "linux")]
mod numbers;
mod oracle;
mod properties;
mod refusing;

use super::{Arch, Profile};

/// Both architectures.
const ARCHES: [Arch; 2] = [Arch::X86_64, Arch::Aarch64];

/// Every profile.
fn profiles() -> impl Iterator<Item = Profile> {
    (0..16).map(|bits| Profile {
        inet: bits & 1 != 0,
        unix: bits & 2 != 0,
        ipc: bits & 4 != 0,
        pids: bits & 8 != 0,
    })
}
