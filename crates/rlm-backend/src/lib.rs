//! Code and bash in persistent sessions.
//!
//! What is here is the part of a session that does not depend on how its process is started: the
//! two drivers (programs that run in a session's process and keep its state), the protocol they
//! speak, and [`DriverLink`], the host's end of it. What is not here: starting and confining a
//! process, pools and managers of sessions, and a tool over them. Nothing in this crate starts a
//! program.
//!
//! The owner of a process gives a [`DriverLink`] four descriptors ([`Channels`]) and a way to
//! interrupt, kill and await it ([`DriverProcess`]); [`Language::arguments`] is what to start. Then
//! each [`DriverLink::run`] gives a [`CallOutcome`]: what was shown, what was printed, how it ended,
//! and what became of the state.
//!
//! Guaranteed: a call returns by its deadline and the grace after it, whatever the code does and
//! whoever keeps its pipes open; what was written before the end of a call is in its outcome; memory
//! for output is bounded while it is read; a driver that breaks the protocol is declared lost, never
//! waited for. Linux only; elsewhere the crate is empty.
//!
//! ```no_run
//! use std::{error::Error, sync::Arc, time::Duration};
//!
//! use rlm_backend::{Channels, DriverLink, DriverProcess, Language, LinkConfig, NoHostCalls};
//! use tokio::time::Instant;
//!
//! /// `process` was started with `Language::Python.program()` and `.arguments(…)`.
//! async fn two(
//!     channels: Channels,
//!     process: Box<dyn DriverProcess>,
//! ) -> Result<(), Box<dyn Error>> {
//!     let soon = || Instant::now() + Duration::from_secs(5);
//!     let (calls, config) = (Arc::new(NoHostCalls), LinkConfig::default());
//!     let mut link =
//!         DriverLink::start(Language::Python, channels, process, calls, config, soon()).await?;
//!     let outcome = link.run("x = 1\nx + 1", soon(), std::future::pending()).await?;
//!     println!("{:?} {}", outcome.shown, outcome.stdout.text());
//!     Ok(())
//! }
//! ```
#![cfg(target_os = "linux")]

mod driver;
mod language;
mod output;
mod protocol;

pub use driver::{
    Background, CallError, CallOutcome, Channels, Cwd, DriverLink, DriverProcess, Ending,
    HostCalls, LinkConfig, NoHostCalls, StartError, StateAfter, VariableError,
};
pub use language::Language;
pub use output::{Captured, OutputText};
pub use protocol::{CodeError, Shown, Variable};
