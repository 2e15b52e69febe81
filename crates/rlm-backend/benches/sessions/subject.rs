//! What is measured: the tool behind its gate, and a link to one confined driver.

use std::{sync::Arc, time::Duration};

use rlm_backend::{
    Backend, DriverLink, Language, LinkConfig, LocalBackend, NoHostCalls, Place, SandboxConfig,
    SandboxTool,
};
use sandbox::ToolSandbox;
use serde_json::{Value, json};
use tokio::time::Instant;
use tool_core::{Content, Limits, ToolCall, ToolRegistry};

/// More than any call needs.
const PLENTY: Duration = Duration::from_secs(30);

/// The tool behind its gate, as a program uses it.
pub(crate) struct Tool {
    sandbox: ToolSandbox,
}

impl Tool {
    pub(crate) fn new(config: SandboxConfig) -> Self {
        let mut registry = ToolRegistry::new();
        registry.register(Arc::new(SandboxTool::new(config).unwrap())).unwrap();
        let scope = registry.scope(["sandbox"]).unwrap();
        Self { sandbox: ToolSandbox::new(Arc::new(registry), scope, Limits::default()) }
    }

    /// The JSON of a call that must succeed.
    pub(crate) async fn answer(&self, arguments: Value) -> Value {
        let call = ToolCall::from_json("c", "sandbox", arguments);
        let output = self.sandbox.execute(call).await.unwrap().outcome.unwrap();
        match output.content.into_iter().next() {
            Some(Content::Json { json }) => json,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn create(&self) -> String {
        let made = self.answer(json!({"op": "session_create"})).await;
        made["session_id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn destroy(&self, session: &str) {
        self.answer(json!({"op": "session_destroy", "session_id": session})).await;
    }

    pub(crate) async fn two(&self, session: &str) {
        let call = json!({"op": "execute_code", "code": "1+1", "session_id": session});
        assert_eq!(self.answer(call).await["value"], "2");
    }

    pub(crate) async fn bash_true(&self, session: &str) {
        let call = json!({"op": "execute_bash", "command": "true", "session_id": session});
        assert_eq!(self.answer(call).await["success"], true);
    }
}

/// One confined driver and its link, without a manager.
pub(crate) struct Direct {
    link: DriverLink,
    place: Box<dyn Place>,
}

impl Direct {
    pub(crate) async fn start(language: Language) -> Self {
        let place = LocalBackend::new(SandboxConfig::default()).open().unwrap();
        let started = place.start(language).unwrap();
        let (calls, config) = (Arc::new(NoHostCalls), LinkConfig::default());
        let soon = Instant::now() + PLENTY;
        let (channels, process) = (started.channels, started.process);
        let link = DriverLink::start(language, channels, process, calls, config, soon);
        Self { link: link.await.unwrap(), place }
    }

    pub(crate) async fn run(&mut self, code: &str) {
        let deadline = Instant::now() + PLENTY;
        let outcome = self.link.run(code, deadline, std::future::pending()).await.unwrap();
        assert_eq!(outcome.ending.exit_code, Some(0));
    }

    pub(crate) fn end(self) {
        drop(self.link);
        self.place.close().unwrap();
    }
}
