//! Why something beneath a working directory was not opened.
//!
//! The texts name the path that was asked for and what would be accepted; never contents, and never
//! where the working directory lies.

use std::io;

use tool_core::{ToolError, ToolName, clip};

use super::kind::Kind;

/// How much of a path an error repeats, in bytes.
const MAX_SHOWN: usize = 256;

#[derive(Debug, thiserror::Error)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux opens anything"))]
pub(super) enum OpenError {
    #[error(
        "the path is empty; give one relative to the working directory, such as \"src/main.c\""
    )]
    Empty,
    #[error("the path is {bytes} bytes long; at most {max} are accepted")]
    TooLong { bytes: usize, max: usize },
    #[error("the path holds a NUL character; no file name does")]
    Nul,
    #[error("the path is absolute; give one relative to the working directory")]
    Absolute,
    #[error(
        "the path leaves the working directory (by \"..\" or by a link); only what lies inside it \
         can be reached, and links must be relative"
    )]
    Leaves,
    #[error("there is no such file or directory in the working directory")]
    NotFound,
    #[error("it is not a directory, or a part of the path before the last is not one")]
    NotADirectory,
    #[error("it is {}; only regular files can be read", .0.noun())]
    NotAFile(Kind),
    #[error(
        "it leads through too many links, a circle of links, or a link that only the kernel can follow"
    )]
    Links,
    #[error("a name in the path is too long, or the path is too deep")]
    NameTooLong,
    #[error("the operating system denies access to it")]
    Denied,
    #[error("it is being changed at this moment; try again")]
    Changing,
    #[error("the operating system says: {0}")]
    Io(#[from] io::Error),
    #[error("the call was cancelled")]
    Cancelled,
    #[error("{0}")]
    Unavailable(&'static str),
}

impl OpenError {
    /// The error of the tool that was asked for `path`.
    pub(super) fn into_tool_error(self, tool: &ToolName, path: &str) -> ToolError {
        match self {
            Self::Cancelled => ToolError::Cancelled,
            Self::Unavailable(message) => ToolError::BackendUnavailable {
                tool: tool.to_string(),
                message: message.to_owned(),
            },
            problem => ToolError::failed(format!("{}: {problem}", shown(path))),
        }
    }
}

/// `path` in quotes, bounded, with control characters escaped.
pub(super) fn shown(path: &str) -> String {
    let head = clip(path, MAX_SHOWN);
    let rest = if head.len() < path.len() { "…" } else { "" };
    format!("{head:?}{rest}")
}
