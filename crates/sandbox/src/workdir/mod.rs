//! Executors that read inside one directory and nowhere else: files, lists of entries, searches.
//!
//! Everything goes through a [`Workdir`], which holds the directory's descriptor and opens what lies
//! beneath it. No file of this folder but `beneath` opens anything, and nothing there opens by a path
//! that does not start at that descriptor. The argument is in `docs/design/workdir-containment.md`.
//!
//! Containment is of names, not of data: a hard link or a mount that the operator put inside is
//! inside.

mod arguments;
mod beneath;
mod bounded;
mod dir;
mod error;
mod kind;
mod list;
mod path;
mod read;
mod search;
mod walk;
mod watched;
mod window;

pub use dir::{Resolution, Workdir, WorkdirError};
pub use list::ListDirInWorkdir;
pub use read::ReadFileInWorkdir;
pub use search::SearchInWorkdir;
