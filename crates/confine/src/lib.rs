//! Starts, confines, watches and ends child processes; reports what the kernel really enforced.
//!
//! ```no_run
//! use confine::{Command, Confinement, Outcome};
//!
//! let prepared = Confinement::builder("/srv/project").prepare()?;
//! let mut child = prepared.spawn(Command::new("python3").args(["-c", "print(6 * 7)"]))?;
//! let end = child.wait()?;
//! assert_eq!(end.outcome, Outcome::Code(0));
//! println!("{:?}", child.report());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a child sees by default: a new root of read-only system directories, the working directory,
//! a private `/tmp`, a minimal `/dev` and a `/proc` of its own; no network; an environment of a few
//! fixed names; nothing on standard input. It has no capability and can't gain one, and the kernel's
//! rarely used surface is closed. Its whole process tree ends with it, with its [`Child`], and with
//! the program that started it.
//!
//! What the host obeys or runs later ([`Protection`]) is read-only within what may be written: hooks of
//! repositories, start-up files of shells, settings of editors and agents. What is absent can't be
//! covered; [`Child::changes`] finds it, and says what else became of the writable directories.
//!
//! Nothing is "sandboxed: true": [`ConfinementReport`] says for every [`Mechanism`] whether it is
//! enforced, in part, or not, and why. What is required and missing is an error that says how to
//! enable it, before anything runs.
//!
//! A program that uses this crate writes nothing in its `main`. The first spawn starts a second
//! copy of the program's executable, which becomes the *launcher* before `main`; the program itself
//! never forks.
//!
//! Linux only (full confinement from 5.12, Landlock alone from 5.13); elsewhere this compiles, and
//! every [`Confinement::prepare`] is an error that says so.

#![cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "what is asked for is not looked at where nothing can be confined")
)]

mod bounds;
mod builder;
mod capture;
mod captured;
#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod child;
mod collector;
mod command;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod error;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod inventory;
#[cfg(target_os = "linux")]
mod launcher;
mod limits;
mod mechanism;
mod outcome;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod prepare;
mod protection;
mod report;
pub mod seccomp;
mod step;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the one place for system calls that no safe library wraps")]
mod sys;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(target_os = "linux")]
mod witness;

pub use bounds::Bounds;
pub use builder::{Confinement, Network};
pub use capture::Capture;
pub use captured::{Captured, Marked, OutputText};
#[cfg(target_os = "linux")]
pub use child::Child;
pub use collector::Collector;
pub use command::{Command, Stream};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Child, Prepared};
pub use error::{PrepareError, SpawnError, WaitError};
#[cfg(target_os = "linux")]
pub use inventory::{Change, Changes, Entry, FileKind, Gap, Inventory};
pub use limits::{Limit, Limits};
pub use mechanism::Mechanism;
pub use outcome::{End, Outcome};
#[cfg(target_os = "linux")]
pub use prepare::Prepared;
pub use protection::{PatternError, Protection};
pub use report::{ConfinementReport, MemoryHolder, NamespaceMaker, Status};
pub use step::Step;
#[cfg(target_os = "linux")]
pub use watch::{
    ChangeReport, ChangeSummary, ChangedPath, Finding, Guarded, Reason, ToldFinding, Watch,
};
