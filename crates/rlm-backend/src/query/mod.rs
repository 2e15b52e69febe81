//! Recursive queries: a model answers a question by writing code in a session.
//!
//! The model never sees a long input: it is a variable in the session. Its code looks at it, cuts it
//! up, and asks sub-questions; all of that travels on the driver's channel, so it needs no network. A
//! [`QueryEngine`] runs queries over the sessions of a manager; each is a loop of turns ([`run`])
//! within a budget that the whole tree of queries shares ([`budget`]).
//!
//! Guaranteed: a query ends with a [`StopReason`], in its time; an answer is what the model gave as
//! one, never an error or a text that only mentions it; no budget goes below zero, and what is not
//! used is given back; a session of a query's own ends with it. Left out: summaries by a model; code
//! that a query runs is not undone.

mod ask;
mod budget;
mod clipped;
mod config;
mod context_file;
mod engine;
mod event;
mod history;
mod host;
mod models;
mod outcome;
mod prompts;
mod question;
mod redact;
mod replay;
mod reply;
mod report;
mod run;
mod session;
mod session_cap;
mod stop;
mod tools;
mod trajectory;
mod tree;

pub(crate) use clipped::clipped;

pub use budget::Spent;
pub use config::{Price, QueryConfig, QueryConfigError};
pub use context_file::ContextFile;
pub use engine::{QueryEngine, QueryError, SessionUse, Watch};
pub use event::{NoObserver, Problem, QueryEvent, QueryObserver, QueryRecord};
pub use models::QueryModels;
pub use outcome::QueryOutcome;
pub use question::{Context, Query, QueryBudget};
pub use redact::Redact;
pub use replay::Replay;
pub use report::render_report;
pub use session_cap::SessionLeft;
pub use stop::StopReason;
pub use tools::SessionTools;
pub use trajectory::{Trajectory, TrajectoryError, read_trajectory};
