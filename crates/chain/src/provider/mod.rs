//! Results from outside of the sandbox: a person or a program on a line, or a recording.
//!
//! Both are strict: what does not fit is an error that names the line and what was expected, because a
//! conversation with a result at the wrong place is worth nothing.

mod line;
mod replay;

pub use line::LineProvider;
pub use replay::ReplayProvider;
