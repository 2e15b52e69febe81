//! Output of a session's process: read without waiting, kept within bounds, readable as text.

mod captured;
mod collector;
mod stream;
mod watch;

pub use captured::{Captured, OutputText};
pub(crate) use collector::Collector;
pub(crate) use stream::{OutputStream, is_not_now};
pub use watch::{OutputSource, OutputWatcher};
