//! What travels from the host to the process that will confine itself: one job, all decided.
//!
//! The host decides everything it can before the launch and writes it down here; the other side
//! ([`crate::inside`]) only carries it out, and ends with the first step that fails. Text that goes
//! into a system call is a [`CString`] already, of any bytes. Paths are absolute.
//!
//! A plan travels to the launcher as a memory file, with two sockets beside it: one for the order
//! that says what to start ([`Program`]), one for the status. The descriptors that come with the
//! order are what the program inherits as 0, 1, 2, ….

use std::ffi::CString;
use std::io;
use std::time::Duration;

use rustix::process::{getegid, geteuid};
use serde::{Deserialize, Serialize};

use crate::Step;
use crate::witness::Witness;

/// How a child is confined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// The namespaces, or none of them.
    pub(crate) namespaces: Option<Namespaces>,
    /// When everything is ended, counted from the program's start.
    pub(crate) wall_clock: Option<Duration>,
    /// Limits by `setrlimit`: resource and value.
    pub(crate) rlimits: Vec<(Rlimit, u64)>,
    /// The Landlock rules, if any.
    pub(crate) landlock: Option<Landlock>,
    /// Whether the bounding set can be emptied too; the other sets always are.
    pub(crate) empty_bounding_set: bool,
    /// The seccomp filter, if any: operation, jump if true, jump if false, value.
    pub(crate) seccomp: Option<Vec<(u16, u8, u8, u32)>>,
}

impl Plan {
    /// As it travels.
    pub(crate) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        postcard::to_allocvec(self).map_err(io::Error::other)
    }
}

/// The new namespaces: user, mount, process ids, IPC and host name, and the network if asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Namespaces {
    /// Who the child is.
    pub(crate) identity: Identity,
    /// Whether the network is a new one, with a loopback interface alone.
    pub(crate) network: bool,
    /// The `bwrap` that makes them, where the launcher may not.
    pub(crate) bubblewrap: Option<CString>,
    /// The file system that is seen.
    pub(crate) root: Root,
}

/// A user and a group, the same inside and outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The user id.
    pub(crate) user: u32,
    /// The group id.
    pub(crate) group: u32,
}

impl Identity {
    /// That of this process.
    pub(crate) fn own() -> Self {
        Self { user: geteuid().as_raw(), group: getegid().as_raw() }
    }
}

/// A root file system, assembled of parts of the host's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Root {
    /// Symbolic links: where, and to what.
    pub(crate) links: Vec<(CString, CString)>,
    /// Small files: where, and their content.
    pub(crate) files: Vec<(CString, Vec<u8>)>,
    /// What of the host is visible, parents before children.
    pub(crate) binds: Vec<Bind>,
    /// What below those is read-only or hidden.
    pub(crate) guards: Vec<Guard>,
    /// The size of `/tmp`, in bytes.
    pub(crate) tmp_size: u64,
}

/// A file or directory of the host, visible in the new root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bind {
    /// Its path on the host, without any symbolic link.
    pub(crate) source: CString,
    /// Its path in the new root.
    pub(crate) path: CString,
    /// Device and inode that the path led to when the plan was made.
    pub(crate) identity: (u64, u64),
    /// Whether it is a directory.
    pub(crate) is_directory: bool,
    /// Whether it can be written.
    pub(crate) writable: bool,
}

/// A path that is guarded within what is visible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Guard {
    /// Which.
    pub(crate) path: CString,
    /// Those of its parents that could be renamed, outermost first; they are pinned.
    pub(crate) parents: Vec<CString>,
    /// Whether it is hidden, not only read-only.
    pub(crate) hidden: bool,
}

/// Landlock rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Landlock {
    /// The version that the kernel offers.
    pub(crate) abi: u32,
    /// Whether TCP is refused.
    pub(crate) refuse_tcp: bool,
    /// What can be read and executed.
    pub(crate) readable: Vec<CString>,
    /// What can be changed too.
    pub(crate) writable: Vec<CString>,
}

/// A resource of `setrlimit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Rlimit {
    /// Private writable memory, in bytes.
    Data,
    /// Processes of the user.
    Processes,
    /// Processor time of a process, in seconds.
    Cpu,
    /// The size of a file that is written, in bytes.
    FileSize,
    /// Open descriptors.
    OpenFiles,
    /// The size of a core file, in bytes.
    Core,
}

/// A program with all that `execve` takes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Program {
    /// Where it may be; the first that can be started is.
    pub(crate) candidates: Vec<CString>,
    /// The arguments, the program's name first.
    pub(crate) arguments: Vec<CString>,
    /// The environment, as `NAME=value`.
    pub(crate) environment: Vec<CString>,
    /// The working directory.
    pub(crate) directory: CString,
    /// The port of a listener that is made on the loopback interface for the host.
    pub(crate) listener: Option<u16>,
}

/// What the status socket carries back; each is one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Status {
    /// The first process was made; its descriptor comes with the message. The launcher says so.
    Made,
    /// Everything is done but the start of a program.
    /// What the view depends on comes with it, if it was built ahead.
    Ready(Option<Witness>),
    /// A listener was made; it comes with the message.
    Listening,
    /// The program is being started.
    Starting,
    /// A step failed, and nothing runs.
    Failed {
        /// Which step.
        step: Step,
        /// The kernel's error number.
        errno: i32,
    },
    /// The program ended by itself.
    Exited(i32),
    /// A signal ended the program.
    Signaled(i32),
    /// The wall clock ran out.
    TimedOut,
}

/// What the host asks of a running child; each is one byte on the status socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// `SIGINT` to the program's process group.
    Interrupt,
    /// `SIGTERM` to it.
    Terminate,
    /// The program runs: its time begins.
    StartClock,
}

impl Request {
    /// The byte that stands for it.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Interrupt => b'I',
            Self::Terminate => b'T',
            Self::StartClock => b'S',
        }
    }

    /// The request that a byte stands for.
    pub(crate) fn of(byte: u8) -> Option<Self> {
        [Self::Interrupt, Self::Terminate, Self::StartClock]
            .into_iter()
            .find(|request| request.byte() == byte)
    }
}
