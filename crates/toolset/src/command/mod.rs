//! Tools that an operator declares as a command: `[tools.command.NAME]`.
//!
//! The command is a list of arguments with placeholders, filled from validated arguments; no shell sees
//! it. It runs under `confine`, in the working directory, without network unless the operator gives it,
//! and ends with its whole process tree at the call's deadline.
//!
//! Where it may write the working directory, what the host would obey or run later is read-only in it,
//! and the result says what became of the directory.
//!
//! Why here and not in `sandbox`: that crate can't start a program at all, and a check keeps it so.

mod changed;
mod config;
mod run;
mod template;

pub use config::{CommandConfig, CommandConfigError, CommandNetwork, WorkdirAccess};
pub(crate) use run::CommandTool;
pub use template::TemplateError;
