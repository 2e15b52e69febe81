//! What a person sees of a chain while it runs: a line for each call, a spinner for what is awaited.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use chain::{ChainEvent, ChainObserver};
use indicatif::{MultiProgress, ProgressBar};
use tool_core::{ToolResult, clip};

use crate::{out, printable::one_line};

/// How much of a call's arguments a line shows, in bytes.
const MAX_SHOWN: usize = 60;

/// Draws events on standard error; only where that is a terminal.
#[derive(Debug)]
pub(super) struct Timeline {
    screen: MultiProgress,
    is_shown: bool,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    model: Option<ProgressBar>,
    calls: BTreeMap<usize, ProgressBar>,
}

impl Timeline {
    pub(super) fn new(screen: MultiProgress) -> Self {
        Self { screen, is_shown: out::is_terminal_err(), waiting: Mutex::default() }
    }

    fn spinner(&self, message: String) -> ProgressBar {
        let bar = self.screen.add(ProgressBar::new_spinner());
        bar.set_message(message);
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }

    fn say(&self, text: &str) {
        // A terminal that can't be written to is nobody's problem.
        let _ = self.screen.println(text);
    }

    fn draw(&self, waiting: &mut Waiting, event: &ChainEvent) {
        match event {
            ChainEvent::TurnStarted { turn } => {
                waiting.model = Some(self.spinner(format!("turn {turn}: asking the model")));
            }
            ChainEvent::CallAnnounced { turn, tool, .. } => {
                if let Some(model) = &waiting.model {
                    let tool = one_line(clip(tool, MAX_SHOWN));
                    model.set_message(format!("turn {turn}: the model writes a call of {tool}"));
                }
            }
            ChainEvent::CallStarted { index, tool, arguments, .. } => {
                clear(waiting.model.take());
                let call = called(tool, arguments);
                waiting.calls.insert(*index, self.spinner(call));
            }
            ChainEvent::CallFinished { index, result, .. } => {
                clear(waiting.calls.remove(index));
                self.say(&finished(result));
            }
            ChainEvent::Evicted { exchanges, is_summarized, .. } => {
                let how = if *is_summarized { "summarized" } else { "dropped" };
                self.say(&format!("  {exchanges} old exchanges {how} to fit the context window"));
            }
            ChainEvent::Stopped { .. } => {
                clear(waiting.model.take());
                std::mem::take(&mut waiting.calls).into_values().for_each(|bar| clear(Some(bar)));
            }
            ChainEvent::TurnFinished { .. } => clear(waiting.model.take()),
            ChainEvent::TextDelta { .. } | ChainEvent::ReasoningDelta { .. } => {}
        }
    }
}

impl ChainObserver for Timeline {
    fn on_event(&self, event: &ChainEvent) {
        if self.is_shown {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            self.draw(&mut waiting, event);
        }
    }
}

fn clear(bar: Option<ProgressBar>) {
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn called(tool: &str, arguments: &str) -> String {
    let dots = if arguments.len() > MAX_SHOWN { "…" } else { "" };
    format!("{} {}{dots}", one_line(clip(tool, MAX_SHOWN)), one_line(clip(arguments, MAX_SHOWN)))
}

fn finished(result: &ToolResult) -> String {
    let tool = one_line(clip(&result.tool, MAX_SHOWN));
    let ms = result.duration.as_secs_f64() * 1e3;
    match &result.outcome {
        Ok(output) => format!("✓ {tool}  {ms:.1} ms, {}", output.len_bytes()),
        Err(error) => {
            let first = error.message.lines().next().unwrap_or_default();
            format!("✗ {tool}  {ms:.1} ms, {}: {}", error.kind, one_line(clip(first, 100)))
        }
    }
}
