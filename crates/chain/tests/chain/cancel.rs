//! Cancellation and the wall clock, in every place where a chain waits.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use chain::{ChainEvent, ChainLimits, ChainOutcome, StopReason, ToolChain};
use tokio_util::sync::CancellationToken;
use tool_core::{BoxFuture, ProviderError, ToolCall, ToolResult, ToolResultProvider};

use crate::support::{
    Answers, Script, Step, asks, chain_of, check_invariants, ok, results, says, task,
};

/// `quick` is answered at once, everything else never. The flag is held by every call that waits.
struct Slow(Arc<()>);

impl ToolResultProvider for Slow {
    fn next_result(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolResult, ProviderError>> {
        let held = Arc::clone(&self.0);
        Box::pin(async move {
            if call.name != "quick" {
                std::future::pending::<()>().await;
            }
            drop(held);
            Ok(ok(&call, "done"))
        })
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), ProviderError>> {
        Box::pin(async { Ok(()) })
    }

    fn concurrency(&self) -> usize {
        2
    }
}

/// Runs the chain and cancels it after 100 ms.
async fn run_cancelled(chain: &ToolChain) -> ChainOutcome {
    let token = CancellationToken::new();
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        token.cancel();
        std::future::pending().await
    };
    let events = Mutex::new(0);
    let observer = |event: &ChainEvent| {
        if let ChainEvent::Stopped { .. } = event {
            *events.lock().unwrap() += 1;
        }
    };
    let outcome = tokio::select! {
        outcome = chain.run(task(), &observer, token.clone()) => outcome.unwrap(),
        () = cancel => unreachable!(),
    };
    check_invariants(&outcome);
    assert_eq!(events.into_inner().unwrap(), 1);
    assert_eq!(outcome.metrics.wall_ms, 100, "nothing waited on");
    outcome
}

fn with_clock(chain: ToolChain) -> ToolChain {
    let budget = Duration::from_millis(100);
    chain.with_limits(ChainLimits::default().with_wall_clock(budget).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_waiting_request_is_dropped_at_once() {
    let held = Arc::new(());
    let script = || {
        let first = asks([("a", "read", "{}")]).into();
        Script::new([first, Step::Hang(Arc::clone(&held))])
    };
    let outcome = run_cancelled(&chain_of(&script(), &Answers::done())).await;
    assert_eq!(outcome.stop, StopReason::Cancelled);
    assert_eq!(results(&outcome.messages), ["done"]);
    assert_eq!(Arc::strong_count(&held), 1);

    let outcome = crate::support::run(&with_clock(chain_of(&script(), &Answers::done()))).await;
    assert_eq!(outcome.stop, StopReason::WallClock { budget_ms: 100 });
    assert_eq!(outcome.metrics.wall_ms, 100);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[tokio::test(start_paused = true)]
async fn waiting_calls_are_dropped_and_answered() {
    let held = Arc::new(());
    let chain = || {
        let calls =
            [("a", "slow", "{}"), ("b", "quick", "{}"), ("c", "slow", "{}"), ("d", "x", "{}")];
        ToolChain::new(Script::new([asks(calls)]), Arc::new(Slow(Arc::clone(&held))))
    };
    let check = |outcome: &ChainOutcome| {
        let cancelled = "error: cancelled: The call was cancelled.";
        assert_eq!(results(&outcome.messages), [cancelled, "done", cancelled, cancelled]);
        assert_eq!(outcome.metrics.cancelled_calls, 3);
        assert_eq!(Arc::strong_count(&held), 1, "no call waits any more");
    };
    let outcome = run_cancelled(&chain()).await;
    assert_eq!(outcome.stop, StopReason::Cancelled);
    check(&outcome);

    let outcome = crate::support::run(&with_clock(chain())).await;
    assert_eq!(outcome.stop, StopReason::WallClock { budget_ms: 100 });
    check(&outcome);
}

#[tokio::test]
async fn a_chain_that_is_cancelled_before_it_starts_asks_nothing() {
    let (model, provider) = (Script::new([says("42")]), Answers::done());
    let token = CancellationToken::new();
    token.cancel();
    let chain = chain_of(&model, &provider);
    let outcome = chain.run(task(), &chain::NoObserver, token).await.unwrap();
    assert_eq!(outcome.stop, StopReason::Cancelled);
    assert_eq!(outcome.metrics.turns, 0);
    assert_eq!(outcome.messages, task());
    assert!(model.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_future_drops_the_calls() {
    let held = Arc::new(());
    let model = Script::new([asks([("a", "slow", "{}")])]);
    let chain = ToolChain::new(model, Arc::new(Slow(Arc::clone(&held))));
    let run = chain.run(task(), &chain::NoObserver, CancellationToken::new());
    assert!(tokio::time::timeout(Duration::from_millis(50), run).await.is_err());
    drop(chain);
    assert_eq!(Arc::strong_count(&held), 1);
}
