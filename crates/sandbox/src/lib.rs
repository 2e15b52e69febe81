//! The enforcement pipeline for tool calls, and executors for named capabilities.
//!
//! [`ToolSandbox`] takes a call through six stages. The first four decide and are pure; they are the
//! [`Gate`](tool_core::Gate) of `tool-core`. Here is what waits: a person's yes ([`Approver`]), the
//! envelope (deadline, cancellation, panics), the output ceiling, and the [`audit`] trail.
//!
//! Work that blocks is a [`ToolExecutor`], run on a [`BlockingPool`]; work that yields is a
//! [`Tool`](tool_core::Tool) and costs no thread. There is no shell and no eval in this crate: what it
//! executes are the named capabilities in it and what a program registers.

mod approval;
pub mod audit;
mod blocking;
mod config;
mod envelope;
mod executor;
mod lookup;
mod pool;
mod provider;
mod sandbox;
mod workdir;

pub use tool_core::Limits as SandboxLimits;

pub use approval::{Approval, ApprovalRequest, Approver};
pub use audit::{AuditError, AuditLog};
pub use blocking::ExecutorTool;
pub use config::{AuditConfig, LimitsConfig, LimitsConfigError};
pub use executor::ToolExecutor;
pub use lookup::StaticLookup;
pub use pool::{BlockingPool, PoolConfig, PoolStatus};
pub use provider::SandboxedToolProvider;
pub use sandbox::ToolSandbox;
pub use workdir::{
    ListDirInWorkdir, ReadFileInWorkdir, Resolution, SearchInWorkdir, Workdir, WorkdirError,
};

/// The text of a panic, bounded.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given");
    tool_core::clip(text, 256)
}
