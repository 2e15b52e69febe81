//! The launcher: a small process that makes the children, so that the host never forks.
//!
//! It is a second copy of the host's executable, started once, that becomes the launcher before
//! `main` ([`crate::sys`] holds the entry). Requests go to it over a socket and nothing comes back on
//! that one: each job brings a socket of its own for answers. When the host's end is closed, however
//! the host ended, the launcher ends, and with it every child.
//!
//! - [`host`]: the host's side: starts it, sends requests.
//! - [`serve`](mod@serve): its own loop.
//! - [`leftovers`]: control groups that are removed when there is nothing else to do.
//! - [`channel`]: messages with descriptors, used by both.

mod channel;
mod host;
mod leftovers;
mod serve;

use std::ffi::CStr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cgroup::Blueprint;

pub(crate) use channel::{pair, read_whole, receive, receive_long, receive_now, send, send_long};
pub(crate) use host::{ask, hurry, keep_clear, memory_file, remove_group};
pub(crate) use serve::{is_message_socket, serve};

/// The name in the environment that marks a launcher.
pub(crate) const MARK: &CStr = c"REMIT_CONFINE_LAUNCHER";

/// The longest request: a path and a little more.
const REQUEST_BYTES: usize = 8192;

/// What the launcher says first, so that the host knows that it carries one.
const GREETING: &[u8] = b"confine 2";

/// What the host asks for.
#[derive(Debug, Serialize, Deserialize)]
enum Request {
    /// A process for a job. The plan, the status socket and the order socket come with it.
    Make(Job),
    /// That a job built ahead is needed now, or was about to be: demand is high.
    Hurry,
    /// The removal of a control group, as soon as it is empty.
    Remove(PathBuf),
    /// That a directory is cleared of this host's control groups when the host is gone.
    Keep(PathBuf),
}

/// What kind of process a job needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The `CLONE_NEW…` bits.
    pub(crate) namespaces: u64,
    /// Whether it may be one that was made before, and may not know of the newest mounts.
    pub(crate) may_be_spare: bool,
    /// Whether it is built ahead. Then it has time until the processors do, and has to say what its
    /// view depends on.
    pub(crate) is_ahead: bool,
    /// Its control groups, which are made for it.
    pub(crate) groups: Vec<Blueprint>,
    /// Their name.
    pub(crate) name: String,
}
