//! What is printed of a chain at its end, and the exit code.
//!
//! Standard output holds the answer; or only calls, where they are shown and nothing answers them, so
//! that it can be given to `remit exec`; or only lines of JSON.

use std::process::ExitCode;

use chain::{ChainMetrics, ChainOutcome, StopReason};
use model::Message;
use serde::Serialize;
use serde_json::Value;
use tool_core::ToolCall;

use crate::{args::AgentArgs, failure::Failure, interrupt, out, printable};

pub(super) fn report(
    outcome: &ChainOutcome,
    args: &AgentArgs,
    is_shown_only: bool,
) -> Result<ExitCode, Failure> {
    let calls = if is_shown_only { last_calls(outcome) } else { &[] };
    if args.json {
        out::json_line(&Ended {
            event: "outcome",
            answer: outcome.answer.as_deref(),
            stop: &outcome.stop,
            metrics: &outcome.metrics,
        })?;
    } else if calls.is_empty() {
        print_answer(outcome)?;
    } else {
        show(outcome, calls)?;
    }
    if !calls.is_empty() {
        out::note("remit: shown, not executed; add --execute-tools and --allow-tool NAME to run");
        return Ok(ExitCode::SUCCESS);
    }
    match &outcome.stop {
        StopReason::Answer => Ok(ExitCode::SUCCESS),
        StopReason::Cancelled => {
            out::note("remit: stopped");
            Ok(ExitCode::from(interrupt::INTERRUPTED))
        }
        stop => Err(Failure::Broken(format!("no answer: {stop}"))),
    }
}

/// The answer, or what the model said last before it was stopped.
fn print_answer(outcome: &ChainOutcome) -> Result<(), Failure> {
    let Some(text) = outcome.answer.as_deref().or_else(|| last_text(outcome)) else {
        return Ok(());
    };
    let text = if out::is_terminal_out() { printable::lines(text) } else { text.to_owned() };
    out::text_out(&format!("{}\n", text.trim_end_matches('\n')))
}

/// Calls to standard output; what the model said beside them is for people.
fn show(outcome: &ChainOutcome, calls: &[ToolCall]) -> Result<(), Failure> {
    if let Some(text) = last_text(outcome) {
        out::note(printable::lines(text).trim_end_matches('\n'));
    }
    calls.iter().try_for_each(|call| out::json_line(&flat(call)))
}

fn last_text(outcome: &ChainOutcome) -> Option<&str> {
    outcome.messages.iter().rev().find_map(|message| match message {
        Message::Assistant(reply) if !reply.text.is_empty() => Some(reply.text.as_str()),
        _ => None,
    })
}

fn last_calls(outcome: &ChainOutcome) -> &[ToolCall] {
    let last = outcome.messages.iter().rev().find_map(|message| match message {
        Message::Assistant(reply) => Some(reply.calls.as_slice()),
        _ => None,
    });
    last.unwrap_or_default()
}

/// The last line of `--json`.
#[derive(Serialize)]
struct Ended<'a> {
    event: &'static str,
    answer: Option<&'a str>,
    stop: &'a StopReason,
    metrics: &'a ChainMetrics,
}

/// A call in the flat shape, which `remit exec` reads.
#[derive(Serialize)]
struct Flat<'a> {
    id: &'a str,
    name: &'a str,
    arguments: Value,
}

/// Arguments that are no JSON stay a string.
fn flat(call: &ToolCall) -> Flat<'_> {
    let text = call.arguments.to_text();
    let arguments = tool_core::parse_strict(&text).unwrap_or_else(|_| text.into());
    Flat { id: call.id.as_str(), name: &call.name, arguments }
}
