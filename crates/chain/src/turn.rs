//! One turn: a reply of the model, its calls, and their results.
//!
//! The reply enters the transcript before its calls run, and a result for every call enters after it, in
//! the order of the calls, whatever happens in between.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{StreamExt as _, stream};
use model::{ChatReply, ChatRequest, Delta, FinishReason, Message, ModelError};
use tool_core::{ProviderError, ToolCall, ToolError, ToolResult, clip};

use crate::{
    ChainEvent, StopReason,
    cut_off::{CutOff, truncated_result},
    run::{Run, estimated_usage, provider_error},
};

/// The most bytes of arguments that a stop reason repeats.
const MAX_SHOWN_ARGUMENTS: usize = 512;
/// How many replies with nothing in them are borne in a row: after the first comes a reminder.
const EMPTY_LIMIT: u32 = 2;

const EMPTY_REMINDER: &str =
    "[The last reply was empty. Answer the task, or call one of the tools.]";
const CUT_OFF_REMINDER: &str =
    "[The last reply was cut off at its token limit. Answer again, shorter.]";

type Results = Vec<Option<ToolResult>>;

impl Run<'_> {
    /// One turn; an error is the reason to stop after it.
    pub(crate) async fn turn(&mut self) -> Result<(), StopReason> {
        self.metrics.turns += 1;
        let turn = self.metrics.turns;
        self.emit(&ChainEvent::TurnStarted { turn });
        let mut reply = self.ask(turn).await?;
        self.ids.assign(turn, &mut reply.calls);
        let cut_off = CutOff::of(&reply, self.chain.sampling);
        self.take_in(&reply);
        let judged = self.judge(&reply, &cut_off);

        let mut results = self.broken_results(turn, &reply.calls, &cut_off);
        let ended = match judged {
            Ok(()) => self.run_calls(turn, &reply.calls, &mut results).await,
            stop => stop,
        };
        self.record(turn, &reply.calls, results);
        let (calls, finish, usage) = (reply.calls.len(), reply.finish, reply.usage);
        self.emit(&ChainEvent::TurnFinished { turn, calls, finish, usage });
        ended
    }

    async fn ask(&mut self, turn: u32) -> Result<ChatReply, StopReason> {
        let request = ChatRequest {
            messages: self.transcript.view(),
            tools: self.chain.tools.clone(),
            sampling: self.chain.sampling,
        };
        let has_heard = [AtomicBool::new(false), AtomicBool::new(false)];
        let on_delta = |delta| {
            let event = delta_event(turn, delta, &has_heard);
            self.observer.on_event(&event);
        };
        let asked = self.chain.model.chat(&request, &on_delta);
        let reply = self.interrupt.watch(asked).await?.map_err(model_error)?;
        self.metrics.count_usage(reply.usage, || estimated_usage(&request, &reply));
        // A provider that does not stream is heard once.
        let [text, reasoning] = has_heard.map(AtomicBool::into_inner);
        if let (false, Some(thought)) = (reasoning, reply.reasoning.clone()) {
            self.emit(&ChainEvent::ReasoningDelta { turn, text: thought });
        }
        if !text && !reply.text.is_empty() {
            self.emit(&ChainEvent::TextDelta { turn, text: reply.text.clone() });
        }
        Ok(reply)
    }

    fn take_in(&mut self, reply: &ChatReply) {
        // Providers refuse a message with nothing in it.
        if !is_empty(reply) {
            self.transcript.push(Message::Assistant(reply.clone()));
        }
        if let Some(usage) = reply.usage {
            self.transcript.measured(usage);
        }
    }

    /// Whether the chain goes on with the calls of this reply.
    fn judge(&mut self, reply: &ChatReply, cut_off: &CutOff) -> Result<(), StopReason> {
        if reply.finish == FinishReason::ContentFilter {
            let calls = u32::try_from(reply.calls.len()).unwrap_or(u32::MAX);
            return Err(StopReason::ContentFilter { calls });
        }
        self.cut_off = if cut_off.is_cut_off { self.cut_off + 1 } else { 0 };
        if self.cut_off >= self.chain.limits.cut_off_limit() {
            return Err(StopReason::CutOff { replies: self.cut_off });
        }
        let is_blank = is_empty(reply) && !cut_off.is_cut_off;
        self.empty = if is_blank { self.empty + 1 } else { 0 };
        let repeated = self.repeats.turn(&reply.calls);
        if is_blank && self.empty >= EMPTY_LIMIT {
            return Err(StopReason::EmptyReply { replies: self.empty });
        }
        if let Some(repeated) = repeated {
            let arguments = clip(&repeated.arguments, MAX_SHOWN_ARGUMENTS).to_owned();
            let (tool, turns) = (repeated.tool, repeated.turns);
            return Err(StopReason::RepeatedCall { tool, arguments, turns });
        }
        if !reply.calls.is_empty() {
            return Ok(());
        }
        if !is_blank && !cut_off.is_cut_off {
            self.answer = Some(reply.text.clone());
            return Err(StopReason::Answer);
        }
        let reminder = if is_blank { EMPTY_REMINDER } else { CUT_OFF_REMINDER };
        self.transcript.push(Message::User(reminder.to_owned()));
        Ok(())
    }

    /// The results of the calls that were cut off; the others have none yet.
    fn broken_results(&self, turn: u32, calls: &[ToolCall], cut_off: &CutOff) -> Results {
        let result = |(index, call): (usize, &ToolCall)| {
            let result = cut_off.is_broken[index].then(|| truncated_result(call))?;
            self.finished(turn, index, &result);
            Some(result)
        };
        calls.iter().enumerate().map(result).collect()
    }

    /// Runs the calls that have no result yet, side by side, and puts each result at its place.
    async fn run_calls(
        &self,
        turn: u32,
        calls: &[ToolCall],
        results: &mut Results,
    ) -> Result<(), StopReason> {
        let waiting: Vec<_> = calls
            .iter()
            .enumerate()
            .filter(|(index, _)| results[*index].is_none())
            .map(|(index, call)| self.run_call(turn, index, call.clone()))
            .collect();
        let width = self.chain.provider.concurrency().max(1);
        let mut finished = stream::iter(waiting).buffer_unordered(width);
        while let Some((index, result)) = self.interrupt.watch(finished.next()).await? {
            let result = result.map_err(|error| provider_error(&error))?;
            self.finished(turn, index, &result);
            results[index] = Some(result);
        }
        Ok(())
    }

    async fn run_call(
        &self,
        turn: u32,
        index: usize,
        call: ToolCall,
    ) -> (usize, Result<ToolResult, ProviderError>) {
        let (call_id, tool) = (call.id.clone(), call.name.clone());
        let arguments = call.arguments.to_text().into_owned();
        self.emit(&ChainEvent::CallStarted {
            turn,
            index,
            call_id: call_id.clone(),
            tool,
            arguments,
        });
        let result = self.chain.provider.next_result(call).await;
        let checked = result.and_then(|result| match result.call_id == call_id {
            true => Ok(result),
            false => Err(ProviderError::new(format!(
                "expected the result of call {:?}, got one of call {:?}",
                call_id.as_str(),
                result.call_id.as_str()
            ))),
        });
        (index, checked)
    }

    /// Answers every call in the transcript; those without a result were cancelled.
    fn record(&mut self, turn: u32, calls: &[ToolCall], results: Results) {
        for (index, (call, result)) in calls.iter().zip(results).enumerate() {
            let result = result.unwrap_or_else(|| {
                let (id, name) = (call.id.clone(), call.name.clone());
                let result = ToolResult::error(id, name, &ToolError::Cancelled);
                self.finished(turn, index, &result);
                result
            });
            self.metrics.count_result(&result);
            self.transcript.push(Message::Tool {
                call_id: call.id.to_string(),
                name: call.name.clone(),
                content: result.for_model(),
                is_error: !result.is_ok(),
            });
        }
    }

    fn finished(&self, turn: u32, index: usize, result: &ToolResult) {
        self.emit(&ChainEvent::CallFinished { turn, index, result: result.clone() });
    }
}

/// The event for a piece of a reply; notes that text or reasoning was heard.
fn delta_event(turn: u32, delta: Delta, has_heard: &[AtomicBool; 2]) -> ChainEvent {
    match delta {
        Delta::Text(text) => {
            has_heard[0].store(true, Ordering::Relaxed);
            ChainEvent::TextDelta { turn, text }
        }
        Delta::Reasoning(text) => {
            has_heard[1].store(true, Ordering::Relaxed);
            ChainEvent::ReasoningDelta { turn, text }
        }
        Delta::CallStarted { index, name } => ChainEvent::CallAnnounced { turn, index, tool: name },
    }
}

fn is_empty(reply: &ChatReply) -> bool {
    reply.calls.is_empty() && reply.text.trim().is_empty()
}

fn model_error(error: ModelError) -> StopReason {
    let status = match &error {
        ModelError::Status { status, .. } => Some(*status),
        _ => None,
    };
    StopReason::ModelError { message: error.to_string(), status }
}
