//! Code and bash in persistent, confined sessions.
//!
//! [`SandboxTool`] is the tool that a model calls, over a [`SessionManager`], which makes sessions,
//! finds them by their ids and ends them in time. A [`Backend`] gives each a [`Place`] and starts
//! drivers in it; [`LocalBackend`] does so with `confine`, on this machine. Nothing is started before
//! the first call.
//!
//! A [`QueryEngine`] has a model answer questions by writing code in such sessions.
//!
//! Beneath are the parts that do not depend on how a process is started: the two drivers (programs
//! that run in a session's process and keep its state), the protocol they speak, and [`DriverLink`],
//! the host's end of it. The owner of a process gives a link four descriptors ([`Channels`]) and a way
//! to interrupt, kill and await it ([`DriverProcess`]); [`Language::arguments`] is what to start. Then
//! each [`DriverLink::run`] gives a [`CallOutcome`]: what was shown, what was printed, how it ended,
//! and what became of the state.
//!
//! Not here: any isolation but the local one, snapshots of what an interpreter holds in memory, and a
//! model to ask from code.
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

mod backend;
mod base64;
mod config;
mod docker;
mod driver;
mod language;
mod local;
mod manager;
mod output;
mod protection;
mod protocol;
mod query;
mod requirements;
mod tool;

pub(crate) use backend::Backends;
pub use backend::{
    Backend, BackendError, ChangedFile, FileChanges, FileError, FilePart, Files, Place, Snapshot,
    SnapshotError, Snapshots, Started, Waiting,
};
pub use config::{SandboxConfig, SandboxConfigError, SessionAccess, SessionNetwork};
pub use docker::{
    DockerBackend, DockerConfig, EngineEnvironment, EngineReport, PullPolicy, Reaped,
};
pub use driver::{
    Background, CallError, CallOutcome, Channels, Cwd, DriverLink, DriverProcess, Ending,
    HostCalls, LinkConfig, NoHostCalls, StartError, StateAfter, VariableError,
};
pub use language::Language;
pub use local::LocalBackend;
pub use manager::{
    Disk, DriverStatus, Extended, Ran, Run, SessionError, SessionId, SessionManager, SessionStatus,
    Unread,
};
pub use output::{Captured, OutputSource, OutputText, OutputWatcher};
pub use protection::ProtectionConfig;
pub use protocol::{CodeError, Shown, Variable};
pub use query::{
    Context, ContextFile, NoObserver, Price, Problem, Query, QueryBudget, QueryConfig,
    QueryConfigError, QueryEngine, QueryError, QueryEvent, QueryModels, QueryObserver,
    QueryOutcome, QueryRecord, Redact, Replay, SessionLeft, SessionTools, SessionUse, Spent,
    StopReason, Trajectory, TrajectoryError, Watch, read_trajectory, render_report,
};
pub use requirements::Requirements;
pub use tool::{SandboxTool, SandboxToolError};
