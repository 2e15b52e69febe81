//! Output of a session's process: read without waiting, kept within bounds, readable as text.

mod stream;
mod watch;

pub use confine::{Captured, OutputText};
pub(crate) use stream::{OutputStream, is_not_now};
pub use watch::{OutputSource, OutputWatcher};
