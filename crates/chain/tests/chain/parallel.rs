//! Calls of one turn run side by side, and their results stand in the order of the calls.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use chain::{ChainEvent, ToolChain};
use tokio::sync::Barrier;
use tool_core::{BoxFuture, ProviderError, ToolCall, ToolResult, ToolResultProvider};

use crate::support::{Script, asks, ok, results, run, says, task};

/// Calls named `meet` wait for each other; the first one to arrive finishes last.
struct Meeting {
    barrier: Barrier,
    width: usize,
    running: AtomicUsize,
    most: AtomicUsize,
}

impl Meeting {
    fn new(people: usize, width: usize) -> Arc<Self> {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Self { barrier: Barrier::new(people), width, running, most })
    }
}

impl ToolResultProvider for Meeting {
    fn next_result(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolResult, ProviderError>> {
        Box::pin(async move {
            let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(running, Ordering::SeqCst);
            if call.name == "meet" {
                self.barrier.wait().await;
            }
            let late = if call.arguments.to_text().contains("late") { 50 } else { 1 };
            tokio::time::sleep(Duration::from_millis(late)).await;
            self.running.fetch_sub(1, Ordering::SeqCst);
            Ok(ok(&call, &call.arguments.to_text()))
        })
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), ProviderError>> {
        Box::pin(async { Ok(()) })
    }

    fn concurrency(&self) -> usize {
        self.width
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_each_other_both_finish() {
    let model = Script::new([
        asks([("a", "meet", r#"{"who": "late"}"#), ("b", "meet", r#"{"who": "early"}"#)]),
        says("done"),
    ]);
    let meeting = Meeting::new(2, 2);
    let chain = ToolChain::new(model, Arc::clone(&meeting) as _);
    let order = std::sync::Mutex::new(Vec::new());
    let observer = |event: &ChainEvent| {
        if let ChainEvent::CallFinished { index, .. } = event {
            order.lock().unwrap().push(*index);
        }
    };
    let work = chain.run(task(), &observer, Default::default());
    let outcome = tokio::time::timeout(Duration::from_secs(5), work).await.unwrap().unwrap();
    assert_eq!(results(&outcome.messages), [r#"{"who": "late"}"#, r#"{"who": "early"}"#]);
    assert_eq!(order.into_inner().unwrap(), [1, 0], "the second call finished first");
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_run_at_once_than_the_source_takes() {
    let calls = [("", "one", r#"{"who": "late"}"#); 7];
    for (width, most) in [(3, 3), (1, 1), (0, 1), (64, 7)] {
        let meeting = Meeting::new(1, width);
        let chain =
            ToolChain::new(Script::new([asks(calls), says("done")]), Arc::clone(&meeting) as _);
        let outcome = run(&chain).await;
        assert_eq!(results(&outcome.messages).len(), 7);
        assert_eq!(meeting.most.load(Ordering::SeqCst), most, "width {width}");
    }
}
