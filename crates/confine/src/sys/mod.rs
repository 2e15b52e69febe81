//! The operating system calls that no safe library wraps. The only folder with `unsafe` in it.
//!
//! Each function does one thing, keeps no state and decides nothing; what to do in which order is
//! said by [`crate::inside`] and [`crate::launcher`]. Numbers and layouts come from the kernel's
//! user-space headers as `libc` repeats them.

mod descriptors;
mod entry;
mod landlock;
mod loopback;
mod mounts;
mod process;
mod seccomp;
mod signals;

pub(crate) use descriptors::{
    adopt, close_from, close_number, close_on_exec_from, dup_onto, pass_on_exec,
};
pub(crate) use entry::ENTRY;
pub(crate) use landlock::{Attributes, Ruleset, abi};
pub(crate) use loopback::bring_up_loopback;
pub(crate) use mounts::{Attribute, set_attributes};
pub(crate) use process::{Cloned, Forked, clone_with_pidfd, execute, exit_now, fork};
pub(crate) use seccomp::install_filter;
pub(crate) use signals::{child_signals, reap_automatically, reset_signals, unblock_signals};
