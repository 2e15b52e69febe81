//! The launcher: a small process that makes the children, so that the host never forks.
//!
//! It is a second copy of the host's executable, started once, that becomes the launcher before
//! `main` ([`crate::sys`] holds the entry). Host and launcher share one socket pair: a job and its
//! descriptors go in, a descriptor of the new process comes out. When the host's end is closed,
//! however the host ended, the launcher ends, and with it every child.
//!
//! - [`host`]: the host's side: starts it, sends jobs.
//! - [`serve`](mod@serve): its own loop.
//! - [`channel`]: messages with descriptors, used by both.

mod channel;
mod host;
mod serve;

use std::ffi::CStr;

pub(crate) use channel::{pair, receive, send};
pub(crate) use host::{LaunchError, Request, launch};
pub(crate) use serve::{is_message_socket, serve};

/// The name in the environment that marks a launcher.
pub(crate) const MARK: &CStr = c"REMIT_CONFINE_LAUNCHER";

/// The length of a request: whether a process may be one that waits, and the namespaces.
const REQUEST_BYTES: usize = 1 + size_of::<u64>();

/// What the launcher says first, so that the host knows that it carries one.
const GREETING: &[u8] = b"confine 1";
