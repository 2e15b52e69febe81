//! The work of an agent that is a chain of our own.
//!
//! It runs as a task: a panic in it is its failure and nobody else's. Its answer is its standard output;
//! the calls that it made, a line each, are its standard error. Every call is checked against the scope
//! once more, here, whoever answers it.

use std::{sync::Arc, time::Duration};

use chain::{ChainError, ChainEvent, ChainOutcome, StopReason, ToolChain};
use model::Message;
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use tool_core::{
    AuthorizationScope, BoxFuture, ProviderError, ToolCall, ToolError, ToolResult,
    ToolResultProvider, ToolSpec, UnauthorizedReason, parse_strict,
};

use super::Ended;
use crate::{
    AgentState, ChainParts,
    capture::{Capture, OutputStream},
    scope::{holds_call, holds_some},
};

/// A chain at work. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct ChainWork {
    running: Option<JoinHandle<Result<ChainOutcome, ChainError>>>,
    lines: mpsc::UnboundedReceiver<String>,
    cancellation: CancellationToken,
}

impl ChainWork {
    /// Starts it. Must be called within the event loop.
    pub(crate) fn start(chain: ToolChain, task: String, cancellation: CancellationToken) -> Self {
        let (said, lines) = mpsc::unbounded_channel();
        let stop = cancellation.clone();
        let run = async move {
            let observer = move |event: &ChainEvent| {
                if let Some(line) = line(event) {
                    // Whoever reads may have gone.
                    let _ = said.send(line);
                }
            };
            chain.run(vec![Message::User(task)], &observer, stop).await
        };
        Self { running: Some(tokio::spawn(run)), lines, cancellation }
    }

    pub(super) fn ask_to_end(&mut self) {
        self.cancellation.cancel();
    }

    pub(super) fn kill(&mut self) {
        self.cancellation.cancel();
        if let Some(running) = &self.running {
            running.abort();
        }
    }

    pub(super) async fn step(&mut self, capture: &mut Capture) -> Option<Ended> {
        let Some(running) = &mut self.running else { return Some(failed("it has ended before")) };
        let outcome = tokio::select! {
            biased;
            Some(line) = self.lines.recv() => {
                capture.take(OutputStream::Stderr, line.as_bytes());
                return None;
            }
            outcome = running => outcome,
        };
        self.running = None;
        Some(match outcome {
            Ok(Ok(outcome)) => finished(&outcome, capture),
            Ok(Err(error)) => failed(error.to_string()),
            Err(error) if error.is_panic() => failed("it panicked"),
            Err(_) => failed("it was ended"),
        })
    }
}

impl Drop for ChainWork {
    fn drop(&mut self) {
        self.kill();
    }
}

fn failed(reason: impl Into<String>) -> Ended {
    Ended { state: AgentState::Failed, exit: None, reason: Some(reason.into()), tokens: None }
}

fn finished(outcome: &ChainOutcome, capture: &mut Capture) -> Ended {
    if let Some(answer) = &outcome.answer {
        capture.take(OutputStream::Stdout, answer.as_bytes());
    }
    let state = match outcome.stop {
        StopReason::Answer => AgentState::Exited,
        StopReason::Cancelled => AgentState::Terminated,
        StopReason::WallClock { .. } => AgentState::TimedOut,
        _ => AgentState::Failed,
    };
    let reason = (!outcome.stop.is_answer()).then(|| outcome.stop.to_string());
    Ended { state, exit: None, reason, tokens: Some(outcome.metrics.tokens()) }
}

/// What is told of a chain's work.
fn line(event: &ChainEvent) -> Option<String> {
    match event {
        ChainEvent::CallFinished { result, .. } => {
            let outcome = result.error_kind().map_or("ok", |kind| kind.as_str());
            Some(format!("call {}: {outcome}\n", result.tool))
        }
        _ => None,
    }
}

/// A chain within a scope, a number of tokens and a time, whatever it was made of.
pub(crate) fn scoped_chain(
    parts: ChainParts,
    scope: &AuthorizationScope,
    tokens: Option<u64>,
    time: Duration,
) -> Result<ToolChain, String> {
    let offered =
        parts.offered.into_iter().filter(|spec: &ToolSpec| holds_some(scope, spec.name().as_str()));
    let least = |own: Option<u64>, given: Option<u64>| match (own, given) {
        (Some(own), Some(given)) => Some(own.min(given)),
        (own, given) => own.or(given),
    };
    let time = parts.limits.wall_clock().map_or(time, |own| own.min(time));
    let mut limits = parts.limits.with_wall_clock(time).map_err(|error| error.to_string())?;
    if let Some(tokens) = least(parts.limits.token_budget(), tokens) {
        limits = limits.with_token_budget(tokens).map_err(|error| error.to_string())?;
    }
    let results = Arc::new(Scoped { inner: parts.results, scope: scope.clone() });
    Ok(ToolChain::new(parts.model, results)
        .with_tools(offered)
        .with_sampling(parts.sampling)
        .with_limits(limits)
        .with_context(parts.context))
}

/// A source of results that is asked only for what the scope holds.
struct Scoped {
    inner: Arc<dyn ToolResultProvider>,
    scope: AuthorizationScope,
}

impl ToolResultProvider for Scoped {
    fn next_result(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolResult, ProviderError>> {
        let mut arguments = parse_strict(&call.arguments.to_text()).unwrap_or_default();
        if let Some(text) = arguments.as_str() {
            // An object that was encoded once more, as the gate reads it.
            arguments = parse_strict(text).unwrap_or_default();
        }
        let operation = arguments.get("op").and_then(|op| op.as_str());
        if holds_call(&self.scope, &call.name, operation) {
            return self.inner.next_result(call);
        }
        let capability = match operation {
            Some(operation) => format!("{}.{operation}", call.name),
            None => call.name.clone(),
        };
        let error = ToolError::Unauthorized { capability, reason: UnauthorizedReason::NotInScope };
        Box::pin(async move { Ok(ToolResult::error(call.id, call.name, &error)) })
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), ProviderError>> {
        self.inner.finish()
    }

    fn concurrency(&self) -> usize {
        self.inner.concurrency()
    }
}
