//! The contract between a model's tool calls and the tools that answer them.
