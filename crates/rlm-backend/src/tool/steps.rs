//! The steps of a query in words, a line for each block of code and for each end.

use std::collections::BTreeMap;

use tool_core::clip;

use crate::QueryEvent;

/// How much of a block's first line is shown, in bytes.
const SHOWN_CODE: usize = 100;

/// What has to be known of earlier steps.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// How deep each query is that runs, and how many sub-calls ended since its last line.
    running: BTreeMap<u64, (usize, u64)>,
}

impl Steps {
    /// The line of a step, with its end, where it has one.
    pub(super) fn line(&mut self, event: &QueryEvent) -> Option<String> {
        match event {
            QueryEvent::Begin { query, depth, .. } => {
                self.running.insert(*query, (usize::try_from(*depth).unwrap_or(0), 0));
                None
            }
            QueryEvent::Call { query, is_tool: false, .. } => {
                self.running.entry(*query).or_default().1 += 1;
                None
            }
            QueryEvent::Block { query, turn, code, is_ok, ms, .. } => {
                let (depth, calls) = self.running.entry(*query).or_default();
                let first = code.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                let sign = if *is_ok { "" } else { " failed:" };
                let calls = match std::mem::take(calls) {
                    0 => String::new(),
                    calls => format!(", {calls} sub-calls"),
                };
                let (indent, code) = ("  ".repeat(*depth), clip(first.trim(), SHOWN_CODE));
                Some(format!("{indent}turn {turn}:{sign} {code} ({ms:.0} ms{calls})\n"))
            }
            QueryEvent::End { query, stop, turns, spent, .. } => {
                let (depth, _) = self.running.remove(query).unwrap_or_default();
                let (indent, tokens) = ("  ".repeat(depth), spent.tokens());
                let calls = spent.sub_calls;
                Some(format!(
                    "{indent}ended ({stop}): {turns} turns, {calls} sub-calls, {tokens} tokens\n"
                ))
            }
            _ => None,
        }
    }
}
