//! What an entry of a directory is.

/// The type of an entry, as `stat` without following links gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux finds anything"))]
pub(super) enum Kind {
    File,
    Dir,
    Symlink,
    Fifo,
    Socket,
    Device,
    Unknown,
}

impl Kind {
    /// The word in a result.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Dir => "dir",
            Self::Symlink => "symlink",
            Self::Fifo | Self::Socket | Self::Device | Self::Unknown => "other",
        }
    }

    /// The words in an error.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::File => "a regular file",
            Self::Dir => "a directory",
            Self::Symlink => "a symbolic link",
            Self::Fifo => "a FIFO",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Unknown => "of an unknown type",
        }
    }
}
