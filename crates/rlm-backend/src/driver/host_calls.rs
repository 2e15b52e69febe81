//! Calls from a session's code back to the host: `host.call(name, args)` in Python.

use serde_json::Value;
use tool_core::BoxFuture;

/// Answers calls from a session's code. Several may run at once, from several threads.
pub trait HostCalls: Send + Sync {
    /// Answers one call. The text of an error becomes a `RuntimeError` in the code.
    ///
    /// The future is dropped where the call that asked ends first.
    fn call(&self, name: String, args: Value) -> BoxFuture<'static, Result<Value, String>>;
}

/// Refuses every call.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHostCalls;

impl HostCalls for NoHostCalls {
    fn call(&self, name: String, _args: Value) -> BoxFuture<'static, Result<Value, String>> {
        Box::pin(async move { Err(format!("there is nothing to call by the name {name:?}")) })
    }
}
