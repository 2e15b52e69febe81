//! Replies that end at their token limit: what is not whole is never executed.

use chain::{ChainLimits, StopReason};
use model::{ChatReply, Message};

use crate::support::{Answers, Script, asks, chain_with, costing, cut, results, run, says};

const WHOLE: (&str, &str, &str) = ("a", "read", r#"{"path": "a"}"#);
const HALF: (&str, &str, &str) = ("b", "write", r#"{"path": "b", "text": "On"#);
const NOTHING: (&str, &str, &str) = ("c", "write", "");

/// One reply, and the names of the calls that were executed.
async fn check(reply: ChatReply, executed: &[&str]) {
    let (model, provider) = (Script::new([reply, says("done")]), Answers::done());
    let outcome = run(&chain_with(&model, &provider, ChainLimits::default())).await;
    let calls = provider.calls.lock().unwrap();
    let names: Vec<_> = calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, executed);
    let refused = usize::try_from(outcome.metrics.refused_calls).unwrap();
    assert_eq!(refused, usize::try_from(outcome.metrics.calls).unwrap() - executed.len());
    for result in results(&outcome.messages).into_iter().filter(|text| *text != "done") {
        assert!(result.starts_with("error: invalid_arguments: The reply was cut off"), "{result}");
    }
    assert_eq!(outcome.answer.as_deref(), Some("done"));
}

#[tokio::test]
async fn calls_that_were_cut_off_are_not_executed() {
    check(cut(asks([WHOLE, HALF])), &["read"]).await;
    check(cut(asks([NOTHING])), &[]).await;
    // The provider says `tool_calls`, and the usage is exactly at the limit.
    check(costing(asks([WHOLE, HALF]), 10, 100), &["read"]).await;
    check(costing(asks([NOTHING]), 10, 100), &[]).await;
    // Below the limit it is for the pipeline to decide.
    check(costing(asks([HALF]), 10, 99), &["write"]).await;
    check(costing(asks([NOTHING]), 10, 99), &["write"]).await;
}

#[tokio::test]
async fn a_call_that_was_cut_off_says_so_in_its_details() {
    let (model, provider) = (Script::new([cut(asks([HALF])), says("done")]), Answers::done());
    let chain = chain_with(&model, &provider, ChainLimits::default());
    let found = std::sync::Mutex::new(Vec::new());
    let observer = |event: &chain::ChainEvent| {
        if let chain::ChainEvent::CallFinished { result, .. } = event {
            found.lock().unwrap().push(serde_json::to_value(result).unwrap());
        }
    };
    chain.run(crate::support::task(), &observer, Default::default()).await.unwrap();
    let found = found.into_inner().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["error"]["kind"], "invalid_arguments");
    assert_eq!(found[0]["error"]["details"], serde_json::json!({"truncated": true}));
}

#[tokio::test]
async fn a_row_of_replies_that_were_cut_off_stops_the_chain() {
    let script = [cut(asks([HALF])), cut(asks([WHOLE, HALF])), says("late")];
    let (model, provider) = (Script::new(script), Answers::done());
    let outcome = run(&chain_with(&model, &provider, ChainLimits::default())).await;
    assert_eq!(outcome.stop, StopReason::CutOff { replies: 2 });
    assert_eq!(provider.count(), 0);
    let metrics = outcome.metrics;
    assert_eq!((metrics.refused_calls, metrics.cancelled_calls), (2, 1));
}

#[tokio::test]
async fn a_whole_reply_breaks_the_row() {
    let script = [cut(asks([HALF])), asks([WHOLE]), cut(asks([HALF])), says("done")];
    let (model, provider) = (Script::new(script), Answers::done());
    let outcome = run(&chain_with(&model, &provider, ChainLimits::default())).await;
    assert_eq!(outcome.stop, StopReason::Answer);
}

#[tokio::test]
async fn a_text_that_was_cut_off_is_no_answer() {
    let script = [cut(says("The ans")), says("42")];
    let (model, provider) = (Script::new(script), Answers::done());
    let outcome = run(&chain_with(&model, &provider, ChainLimits::default())).await;
    assert_eq!(outcome.answer.as_deref(), Some("42"));
    let reminder = model.requests()[1].messages.last().cloned();
    assert!(matches!(reminder, Some(Message::User(text)) if text.contains("cut off")));

    let (model, provider) = (Script::new([cut(says("")), cut(says("The ans"))]), Answers::done());
    let outcome = run(&chain_with(&model, &provider, ChainLimits::default())).await;
    assert_eq!(outcome.stop, StopReason::CutOff { replies: 2 });
    assert_eq!(outcome.answer, None);
}
