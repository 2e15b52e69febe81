//! What a person sees of a query while it runs: one line that changes, and a line for each turn.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use indicatif::ProgressBar;
use rlm_backend::{QueryEvent, QueryRecord};

use crate::{printable::clipped, screen::Screen};

/// How much of a turn's code or words a line shows, in bytes.
const MAX_SHOWN: usize = 70;

/// Draws the steps of a query on the screen.
#[derive(Debug)]
pub(super) struct View {
    screen: Screen,
    bar: ProgressBar,
    state: Mutex<State>,
}

/// What is known of all queries of the tree.
#[derive(Debug)]
struct State {
    tokens: u64,
    max_tokens: u64,
    in_flight: u64,
    calls: u64,
    /// How deep each query is that runs, and its turn.
    running: BTreeMap<u64, (u64, u64)>,
}

impl View {
    pub(super) fn new(screen: &Screen, max_tokens: u64) -> Self {
        let bar = screen.spinner("starting a session".to_owned());
        let running = BTreeMap::new();
        let state = State { tokens: 0, max_tokens, in_flight: 0, calls: 0, running };
        Self { screen: screen.clone(), bar, state: Mutex::new(state) }
    }

    pub(super) fn observe(&self, record: &QueryRecord) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = state.take(&record.event) {
            self.screen.say(&line);
        }
        self.bar.set_message(state.line());
    }
}

impl State {
    /// Takes a step in; gives a line that stays, where the step is worth one.
    fn take(&mut self, event: &QueryEvent) -> Option<String> {
        match event {
            QueryEvent::Begin { query, depth, .. } => {
                self.running.insert(*query, (*depth, 1));
            }
            QueryEvent::Turn { query, turn, usage, .. } => {
                self.tokens += usage.input_tokens + usage.output_tokens;
                if let Some(at) = self.running.get_mut(query) {
                    at.1 = *turn;
                }
            }
            QueryEvent::Block { query, turn, code, is_ok, ms, .. } => {
                let first = code.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                let (sign, code) = (if *is_ok { '✓' } else { '✗' }, clipped(first, MAX_SHOWN));
                let indent = "  ".repeat(self.depth(*query));
                return Some(format!("{indent}{sign} turn {turn}  {code}  {ms:.0} ms"));
            }
            QueryEvent::Asking { .. } => self.in_flight += 1,
            QueryEvent::Call { is_tool: false, usage, .. } => {
                self.in_flight = self.in_flight.saturating_sub(1);
                self.calls += 1;
                self.tokens += usage.input_tokens + usage.output_tokens;
            }
            QueryEvent::End { query, .. } => {
                self.running.remove(query);
            }
            _ => {}
        }
        None
    }

    fn depth(&self, query: u64) -> usize {
        let depth = self.running.get(&query).map_or(0, |(depth, _)| *depth);
        usize::try_from(depth).unwrap_or(0)
    }

    fn line(&self) -> String {
        let (depth, turn) = self.running.values().max().copied().unwrap_or((0, 1));
        let left = self.max_tokens.saturating_sub(self.tokens);
        format!(
            "turn {turn}, depth {depth}, {} sub-calls in flight, {} done, {} tokens, {left} left",
            self.in_flight, self.calls, self.tokens
        )
    }
}
