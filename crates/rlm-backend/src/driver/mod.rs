//! The host's end of a session: talks to one driver process over descriptors that its owner made.

mod call;
mod control;
mod host_calls;
mod link;
mod outcome;
mod parts;
mod process;
mod quick;
mod start;
mod variables;

pub use host_calls::{HostCalls, NoHostCalls};
pub use link::{CallError, DriverLink, LinkConfig};
pub use outcome::{Background, CallOutcome, Cwd, Ending, StateAfter};
pub(crate) use parts::Part;
pub use process::{Channels, DriverProcess};
pub use start::StartError;
pub use variables::VariableError;
