//! Output that is seen while the code runs.

use std::sync::{Arc, Mutex};

use rlm_backend::{SandboxConfig, SandboxTool};
use sandbox::ToolSandbox;
use serde_json::json;
use testkit::sessions::{MockBackend, Played};
use tool_core::{
    ByteCount, CallId, Limits, OutputKind, Progress, ProgressSink, ToolCall, ToolRegistry,
};

use crate::{script::played, support::json_of};

#[derive(Debug, Default)]
struct Seen {
    steps: Mutex<Vec<String>>,
}

impl ProgressSink for Seen {
    fn progress(&self, call: &CallId, progress: Progress<'_>) {
        let step = match progress {
            Progress::Output { kind: OutputKind::Stdout, text } => format!("{call} out {text}"),
            Progress::Output { kind: OutputKind::Stderr, text } => format!("{call} err {text}"),
            Progress::Ended => format!("{call} ended"),
            other => panic!("{other:?}"),
        };
        self.steps.lock().unwrap().push(step);
    }
}

fn watched(backend: MockBackend, limits: Limits) -> (ToolSandbox, Arc<Seen>) {
    let tool = SandboxTool::with_backend(SandboxConfig::default(), Arc::new(backend)).unwrap();
    let mut registry = ToolRegistry::new();
    registry.register(Arc::new(tool)).unwrap();
    let scope = registry.scope(["sandbox"]).unwrap();
    let seen = Arc::new(Seen::default());
    let sandbox = ToolSandbox::new(Arc::new(registry), scope, limits);
    (sandbox.with_progress(Arc::clone(&seen) as _), seen)
}

fn call(code: &str, timeout_ms: u64) -> ToolCall {
    let arguments = json!({"op": "execute_code", "code": code, "timeout_ms": timeout_ms});
    ToolCall::from_json("c", "sandbox", arguments)
}

#[tokio::test]
async fn it_is_shown_before_the_call_ends_and_the_end_comes_last() {
    let (sandbox, seen) = watched(played(), Limits::default());
    let running = sandbox.execute(call("while True: pass", 2000));
    let looking = async {
        while seen.steps.lock().unwrap().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        seen.steps.lock().unwrap().clone()
    };
    let (result, early) = tokio::join!(running, looking);
    assert_eq!(early, ["c out before\n"]);
    assert_eq!(json_of(&result.unwrap())["stdout"], "before\n");
    assert_eq!(*seen.steps.lock().unwrap(), ["c out before\n", "c ended"]);
}

#[tokio::test]
async fn no_more_of_it_is_shown_than_a_result_may_have() {
    let flood = MockBackend::new(|_| Played::stdout("x".repeat(60_000)));
    let limits = Limits::default().with_max_output(ByteCount(4096)).unwrap();
    let (sandbox, seen) = watched(flood, limits);
    sandbox.execute(call("", 5000)).await.unwrap();
    let steps = seen.steps.lock().unwrap();
    let shown = steps.iter().map(|step| step.matches('x').count()).sum::<usize>();
    assert_eq!(shown, 4096);
    assert!(steps[steps.len() - 2].contains("not shown"), "{:?}", steps[steps.len() - 2]);
    assert_eq!(steps.last().unwrap(), "c ended");
}
