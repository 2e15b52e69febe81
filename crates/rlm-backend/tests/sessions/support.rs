//! A tool behind its gate, as a model meets it.

use std::{sync::Arc, time::Duration};

use rlm_backend::{SandboxConfig, SandboxTool};
use sandbox::ToolSandbox;
use serde_json::{Value, json};
use tool_core::{ByteCount, Limits, ToolCall, ToolRegistry, ToolResult};

/// Ends a test where the backend that it is about is not there, which has said so.
macro_rules! here {
    () => {
        if !crate::backend::is_there() {
            return;
        }
    };
}
pub(crate) use here;

/// The tool with everything allowed, and a lot of room for arguments.
pub(crate) struct Tool {
    pub(crate) sandbox: ToolSandbox,
}

impl Tool {
    pub(crate) fn new() -> Self {
        Self::with(SandboxConfig::default())
    }

    pub(crate) fn with(config: SandboxConfig) -> Self {
        Self::allowing(config, &["sandbox"])
    }

    pub(crate) fn allowing(config: SandboxConfig, capabilities: &[&str]) -> Self {
        Self::over(SandboxTool::new(crate::backend::of(config)).unwrap(), capabilities)
    }

    pub(crate) fn over(tool: SandboxTool, capabilities: &[&str]) -> Self {
        let mut registry = ToolRegistry::new();
        registry.register(Arc::new(tool)).unwrap();
        let scope = registry.scope(capabilities.iter().copied()).unwrap();
        let limits = Limits::default().with_max_args(ByteCount(16 << 20)).unwrap();
        Self { sandbox: ToolSandbox::new(Arc::new(registry), scope, limits) }
    }

    pub(crate) async fn call(&self, arguments: Value) -> ToolResult {
        self.sandbox.execute(ToolCall::from_json("c", "sandbox", arguments)).await.unwrap()
    }

    /// The JSON of a call that is answered with a result.
    pub(crate) async fn answer(&self, arguments: Value) -> Value {
        json_of(&self.call(arguments).await)
    }

    /// The kind and text of a call that is answered with an error.
    pub(crate) async fn error(&self, arguments: Value) -> (String, String) {
        let error = self.call(arguments).await.outcome.expect_err("an error");
        (error.kind.to_string(), error.message)
    }

    pub(crate) async fn python(&self, code: &str) -> Value {
        self.answer(json!({"op": "execute_code", "code": code})).await
    }

    pub(crate) async fn python_for(&self, code: &str, ms: u64) -> Value {
        self.answer(json!({"op": "execute_code", "code": code, "timeout_ms": ms})).await
    }

    pub(crate) async fn bash(&self, command: &str) -> Value {
        self.answer(json!({"op": "execute_bash", "command": command})).await
    }

    pub(crate) async fn create(&self) -> String {
        let made = self.answer(json!({"op": "session_create"})).await;
        made["session_id"].as_str().unwrap().to_owned()
    }

    /// What bash prints.
    pub(crate) async fn prints(&self, command: &str) -> String {
        let answer = self.bash(command).await;
        answer["stdout"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}

pub(crate) fn json_of(result: &ToolResult) -> Value {
    let output = result.outcome.as_ref().unwrap_or_else(|error| panic!("{error:?}"));
    match output.content.first() {
        Some(tool_core::Content::Json { json }) => json.clone(),
        other => panic!("{other:?}"),
    }
}

/// The processes of this machine whose command line holds a text.
pub(crate) fn processes_with(text: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap();
    let lines =
        entries.filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
    lines.filter(|line| line.contains(text)).collect()
}

/// Waits for something that takes a moment.
pub(crate) async fn soon(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..1000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("not within twenty seconds: {what}");
}
