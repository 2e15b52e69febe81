//! What a person sees of a chain while it runs: a line for each call, a spinner for what is awaited.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use chain::{ChainEvent, ChainObserver};
use indicatif::ProgressBar;
use tool_core::ToolResult;

use crate::{printable::clipped, screen::Screen};

/// How much of a call's arguments a line shows, in bytes.
const MAX_SHOWN: usize = 60;

/// How much of an error's message a line shows, in bytes.
const MAX_PROBLEM: usize = 100;

/// Draws events on the screen.
#[derive(Debug)]
pub(super) struct Timeline {
    screen: Screen,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    model: Option<ProgressBar>,
    calls: BTreeMap<usize, ProgressBar>,
}

impl Timeline {
    pub(super) fn new(screen: Screen) -> Self {
        Self { screen, waiting: Mutex::default() }
    }

    fn draw(&self, waiting: &mut Waiting, event: &ChainEvent) {
        match event {
            ChainEvent::TurnStarted { turn } => {
                waiting.model = Some(self.screen.spinner(format!("turn {turn}: asking the model")));
            }
            ChainEvent::CallAnnounced { turn, tool, .. } => {
                if let Some(model) = &waiting.model {
                    let tool = clipped(tool, MAX_SHOWN);
                    model.set_message(format!("turn {turn}: the model writes a call of {tool}"));
                }
            }
            ChainEvent::CallStarted { index, tool, arguments, .. } => {
                waiting.model = None;
                let call = called(tool, arguments);
                waiting.calls.insert(*index, self.screen.spinner(call));
            }
            ChainEvent::CallFinished { index, result, .. } => {
                waiting.calls.remove(index);
                self.screen.say(&finished(result));
            }
            ChainEvent::Evicted { exchanges, is_summarized, .. } => {
                let how = if *is_summarized { "summarized" } else { "dropped" };
                self.screen
                    .say(&format!("  {exchanges} old exchanges {how} to fit the context window"));
            }
            ChainEvent::Stopped { .. } => {
                waiting.model = None;
                waiting.calls.clear();
            }
            ChainEvent::TurnFinished { .. } => waiting.model = None,
            ChainEvent::TextDelta { .. } | ChainEvent::ReasoningDelta { .. } => {}
        }
    }
}

impl ChainObserver for Timeline {
    fn on_event(&self, event: &ChainEvent) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.draw(&mut waiting, event);
    }
}

fn called(tool: &str, arguments: &str) -> String {
    format!("{} {}", clipped(tool, MAX_SHOWN), clipped(arguments, MAX_SHOWN))
}

fn finished(result: &ToolResult) -> String {
    let tool = clipped(&result.tool, MAX_SHOWN);
    let ms = result.duration.as_secs_f64() * 1e3;
    match &result.outcome {
        Ok(output) => format!("✓ {tool}  {ms:.1} ms, {}", output.len_bytes()),
        Err(error) => {
            let first = error.message.lines().next().unwrap_or_default();
            format!("✗ {tool}  {ms:.1} ms, {}: {}", error.kind, clipped(first, MAX_PROBLEM))
        }
    }
}
