//! The enforcement pipeline for tool calls, and executors for named capabilities.
