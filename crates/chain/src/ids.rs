//! Ids of calls, unique within one conversation.
//!
//! A model may give no id, an empty one, or the same one twice. On the wire every call needs an id of
//! its own, so those are replaced by `call_{turn}_{index}`; an id that is fine stays as it is. Calls
//! are matched with results by position: an id is passed on, and never looked up.

use std::collections::HashSet;

use model::Message;
use tool_core::{CallId, ToolCall};

/// The ids that the conversation has used, evicted messages included.
#[derive(Debug, Default)]
pub(crate) struct CallIds(HashSet<CallId>);

impl CallIds {
    /// The ids of a conversation that goes on.
    pub(crate) fn of(messages: &[Message]) -> Self {
        let ids = messages.iter().flat_map(|message| match message {
            Message::Assistant(reply) => reply.calls.as_slice(),
            _ => &[],
        });
        Self(ids.map(|call| call.id.clone()).collect())
    }

    /// Makes the ids of one turn's calls unique.
    pub(crate) fn assign(&mut self, turn: u32, calls: &mut [ToolCall]) {
        // Good ids first: a made id must not take one that comes later in the same turn.
        let is_good: Vec<bool> = calls
            .iter()
            .map(|call| !call.id.as_str().trim().is_empty() && self.0.insert(call.id.clone()))
            .collect();
        for (index, call) in calls.iter_mut().enumerate() {
            if !is_good[index] {
                call.id = self.make(turn, index);
            }
        }
    }

    fn make(&mut self, turn: u32, index: usize) -> CallId {
        let mut id = CallId::new(format!("call_{turn}_{index}"));
        let mut further = 1;
        while !self.0.insert(id.clone()) {
            further += 1;
            id = CallId::new(format!("call_{turn}_{index}_{further}"));
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn calls(ids: &[&str]) -> Vec<ToolCall> {
        ids.iter().map(|id| ToolCall::from_text(*id, "t", "{}")).collect()
    }

    fn check(given: &[&str], expected: &[&str]) {
        let mut calls = calls(given);
        CallIds::default().assign(2, &mut calls);
        let ids: Vec<_> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, expected);
    }

    #[test]
    fn only_bad_ids_are_replaced() {
        check(&["a", "b"], &["a", "b"]);
        check(&["", " "], &["call_2_0", "call_2_1"]);
        check(&["a", "a", "b"], &["a", "call_2_1", "b"]);
        check(&["", "call_2_0"], &["call_2_0_2", "call_2_0"]);
    }

    #[test]
    fn an_id_of_an_earlier_turn_is_taken() {
        let mut ids = CallIds::default();
        let mut first = calls(&["a", ""]);
        ids.assign(1, &mut first);
        let mut second = calls(&["a", "call_1_1"]);
        ids.assign(2, &mut second);
        assert_eq!(second[0].id.as_str(), "call_2_0");
        assert_eq!(second[1].id.as_str(), "call_2_1");
    }

    proptest! {
        #[test]
        fn ids_are_unique_over_all_turns(
            turns in proptest::collection::vec(
                proptest::collection::vec("|a|b|call_[123]_[01]|call_1_0_2", 0..5), 1..6)
        ) {
            let mut ids = CallIds::default();
            let mut seen = HashSet::new();
            for (turn, given) in turns.iter().enumerate() {
                let given: Vec<&str> = given.iter().map(String::as_str).collect();
                let mut calls = calls(&given);
                ids.assign(u32::try_from(turn).unwrap() + 1, &mut calls);
                for call in calls {
                    prop_assert!(!call.id.is_empty());
                    prop_assert!(seen.insert(call.id));
                }
            }
        }
    }
}
