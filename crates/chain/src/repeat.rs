//! Notices that the model asks for the same thing turn after turn.
//!
//! What counts is one call (its name and its canonical arguments) in an unbroken row of turns: the
//! order of keys, the order of calls in a turn, further calls beside it and the success of the call
//! make no difference. A call twice in one turn counts once. Tools that are meant to be polled are
//! exempt.

use std::collections::{HashMap, HashSet};

use tool_core::{ToolCall, ToolSpec};

use crate::canonical::canonical_arguments;

type Key = (String, String);

/// Counts, for each call of the turn before, for how many turns in a row it was made.
#[derive(Debug)]
pub(crate) struct RepeatWatch {
    limit: u32,
    exempt: HashSet<String>,
    rows: HashMap<Key, u32>,
}

/// A call that was made too many turns in a row.
#[derive(Debug, PartialEq)]
pub(crate) struct Repeated {
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) turns: u32,
}

impl RepeatWatch {
    pub(crate) fn new(limit: u32, tools: &[ToolSpec]) -> Self {
        let polled = tools.iter().filter(|spec| spec.annotations().is_polling);
        let exempt = polled.map(|spec| spec.name().to_string()).collect();
        Self { limit, exempt, rows: HashMap::new() }
    }

    /// Takes the calls of one turn; gives the first that reached the limit.
    pub(crate) fn turn(&mut self, calls: &[ToolCall]) -> Option<Repeated> {
        let mut rows = HashMap::new();
        let mut repeated = None;
        for call in calls.iter().filter(|call| !self.exempt.contains(&call.name)) {
            let key = (call.name.clone(), canonical_arguments(&call.arguments));
            let turns = self.rows.get(&key).map_or(1, |turns| turns + 1);
            if turns >= self.limit && repeated.is_none() {
                let (tool, arguments) = key.clone();
                repeated = Some(Repeated { tool, arguments, turns });
            }
            rows.insert(key, turns);
        }
        self.rows = rows;
        repeated
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_core::Annotations;

    use super::*;

    /// Each turn is a list of calls, `name:arguments`; the answer is the turn that was stopped.
    fn stopped_at(turns: &[&[&str]]) -> Option<usize> {
        let polling = Annotations { is_polling: true, ..Annotations::default() };
        let specs = [
            ToolSpec::new("poll", "", json!({})).unwrap().with_annotations(polling),
            ToolSpec::new("read", "", json!({})).unwrap(),
        ];
        let mut watch = RepeatWatch::new(3, &specs);
        turns.iter().position(|calls| {
            let calls: Vec<_> = calls
                .iter()
                .map(|call| call.split_once(':').unwrap())
                .map(|(name, arguments)| ToolCall::from_text("", name, arguments))
                .collect();
            watch.turn(&calls).is_some()
        })
    }

    #[test]
    fn rows_are_counted() {
        let cases: [(&[&[&str]], Option<usize>); 8] = [
            (&[&["read:{}"], &["read:{}"], &["read:{}"]], Some(2)),
            (&[&["read:{}"], &["read:"], &["read:null"]], Some(2)),
            (&[&["read:{}"], &["other:{}"], &["read:{}"], &["read:{}"]], None),
            (
                &[
                    &[r#"read:{"a":1,"b":2}"#],
                    &[r#"read:{"b":2,"a":1}"#],
                    &[r#"read:{ "a" : 1, "b" : 2 }"#],
                ],
                Some(2),
            ),
            (&[&["read:{}", "x:{}"], &["x:{}", "read:{}"], &["read:{}", "x:{}"]], Some(2)),
            (&[&["poll:{}"], &["poll:{}"], &["poll:{}"], &["poll:{}"]], None),
            (&[&["read:{}", "read:{}", "read:{}"], &["read:{}"]], None),
            (&[&[r#"read:{"n":1}"#], &[r#"read:{"n":2}"#], &[r#"read:{"n":3}"#]], None),
        ];
        for (turns, expected) in cases {
            assert_eq!(stopped_at(turns), expected, "{turns:?}");
        }
    }
}
