//! The enforcement pipeline for tool calls, and executors for named capabilities.

mod executor;

pub use executor::ToolExecutor;
