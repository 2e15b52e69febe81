//! What is started: a program with its arguments and streams.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// What a standard stream of the child is.
#[derive(Debug, Default)]
#[non_exhaustive]
pub enum Stream {
    /// Empty to read, and nowhere to write.
    Null,
    /// A pipe whose other end the [`Child`](crate::Child) holds.
    #[default]
    Pipe,
    /// An open descriptor.
    Descriptor(OwnedFd),
}

/// A program to start. Arguments are data: no shell sees them.
///
/// Standard input is empty, standard output and standard error are pipes, unless said otherwise.
#[derive(Debug)]
pub struct Command {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) stdin: Stream,
    pub(crate) stdout: Stream,
    pub(crate) stderr: Stream,
    pub(crate) inherited: Vec<OwnedFd>,
    /// The port of a listener in the child's network.
    pub(crate) listener: Option<u16>,
}

impl Command {
    /// A program, by its path as seen inside, or by a name that is looked up in the `PATH` of the
    /// confinement's environment.
    #[must_use]
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            directory: None,
            stdin: Stream::Null,
            stdout: Stream::Pipe,
            stderr: Stream::Pipe,
            inherited: Vec::new(),
            listener: None,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = S>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    /// Sets the directory it starts in, as seen inside; the working directory by default.
    #[must_use]
    pub fn directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets standard input.
    #[must_use]
    pub fn stdin(mut self, stream: Stream) -> Self {
        self.stdin = stream;
        self
    }

    /// Sets standard output.
    #[must_use]
    pub fn stdout(mut self, stream: Stream) -> Self {
        self.stdout = stream;
        self
    }

    /// Sets standard error.
    #[must_use]
    pub fn stderr(mut self, stream: Stream) -> Self {
        self.stderr = stream;
        self
    }

    /// Has a TCP listener made on the loopback interface of the child's own network, at this port,
    /// before the program starts. The host gets it ([`Child::take_listener`](crate::Child::take_listener))
    /// and serves it; the child can connect to it, and nobody outside of its network can. The child
    /// inherits nothing of it.
    ///
    /// So a host can offer a service to a child that has no network otherwise. Where the child has no
    /// network of its own, the spawn is an error.
    #[must_use]
    pub fn listener(mut self, port: u16) -> Self {
        self.listener = Some(port);
        self
    }

    /// Lets the child inherit one more descriptor: the first is its 3, the next its 4, and so on.
    #[must_use]
    pub fn inherit(mut self, descriptor: OwnedFd) -> Self {
        self.inherited.push(descriptor);
        self
    }
}
