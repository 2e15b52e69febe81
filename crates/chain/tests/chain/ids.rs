//! Ids on the wire: unique, and results matched by position.

use chain::NoObserver;
use model::Message;
use proptest::prelude::*;

use crate::support::{Answers, Script, asks, chain_of, check_invariants, ok, results, says, task};

/// The ids of the tool messages, in order; every call is answered with its own arguments.
fn ids_for(turns: Vec<Vec<String>>, earlier: Vec<Message>) -> Vec<String> {
    let mut number = 0;
    let mut script: Vec<_> = turns
        .into_iter()
        .map(|ids| {
            let mut reply = asks([]);
            reply.calls = ids
                .into_iter()
                .map(|id| {
                    number += 1;
                    tool_core::ToolCall::from_text(id, "count", format!("{{\"n\":{number}}}"))
                })
                .collect();
            reply
        })
        .collect();
    script.push(says("done"));
    let (model, provider) =
        (Script::new(script), Answers::new(|call| Ok(ok(call, &call.arguments.to_text()))));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let run =
        async { chain_of(&model, &provider).run(earlier, &NoObserver, Default::default()).await };
    let outcome = runtime.block_on(run).unwrap();
    check_invariants(&outcome);
    assert_eq!(provider.count(), number, "every call is executed once");
    let expected: Vec<_> = (1..=number).map(|n| format!("{{\"n\":{n}}}")).collect();
    assert_eq!(results(&outcome.messages), expected, "results stand in the order of the calls");
    let id = |message: &Message| match message {
        Message::Tool { call_id, .. } => Some(call_id.clone()),
        _ => None,
    };
    outcome.messages.iter().filter_map(id).collect()
}

#[test]
fn double_and_empty_ids_are_executed_once_each_and_answered_by_position() {
    let check = |given: &[&[&str]], expected: &[&str]| {
        let turns = given.iter().map(|ids| ids.iter().map(ToString::to_string).collect());
        assert_eq!(ids_for(turns.collect(), task()), expected);
    };
    check(&[&["same", "same"]], &["same", "call_1_1"]);
    check(&[&["", ""]], &["call_1_0", "call_1_1"]);
    check(&[&["a"], &["a", "b"]], &["a", "call_2_0", "b"]);
    check(&[&["call_2_0"], &[""]], &["call_2_0", "call_2_0_2"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_call_has_an_id_of_its_own(
        turns in proptest::collection::vec(
            proptest::collection::vec("|a|b|call_[12]_[01]", 1..4), 0..7)
    ) {
        let calls: usize = turns.iter().map(Vec::len).sum();
        prop_assert_eq!(ids_for(turns, task()).len(), calls);
    }
}
