//! Every stop reason, and what it leaves behind.

use chain::{ChainError, ChainLimits, ContextPolicy, Eviction, NoObserver, StopReason};
use model::{ChatReply, FinishReason, Message, ModelError};
use serde_json::json;
use tool_core::{Annotations, ProviderError, ToolError, ToolResult, ToolSpec};

use crate::support::{
    Answers, Script, Step, asks, chain_of, chain_with, costing, ok, run, says, task,
};

struct Case {
    script: Vec<Step>,
    limits: ChainLimits,
    stop: StopReason,
    answer: Option<&'static str>,
    /// How many calls reached the source of results.
    executed: usize,
    turns: u32,
}

async fn check(case: Case) {
    let (model, provider) = (Script::new(case.script), Answers::done());
    let outcome = run(&chain_with(&model, &provider, case.limits)).await;
    assert_eq!(outcome.stop, case.stop);
    assert_eq!(outcome.answer.as_deref(), case.answer, "{}", case.stop);
    assert_eq!(provider.count(), case.executed, "{}", case.stop);
    assert_eq!(outcome.metrics.turns, case.turns, "{}", case.stop);
    assert_eq!(outcome.stop.is_answer(), case.answer.is_some());
    let json = serde_json::to_value(&outcome.stop).unwrap();
    assert_eq!(json["reason"], outcome.stop.as_str());
    assert_eq!(serde_json::from_value::<StopReason>(json).unwrap(), case.stop);
}

fn steps(replies: impl IntoIterator<Item = ChatReply>) -> Vec<Step> {
    replies.into_iter().map(Step::from).collect()
}

/// A call that no other turn makes.
fn fresh(turn: usize) -> ChatReply {
    asks([("", "read", &format!("{{\"n\": {turn}}}"))])
}

fn plain() -> ChainLimits {
    ChainLimits::default()
}

#[tokio::test]
async fn an_answer_ends_the_chain() {
    check(Case {
        script: steps([fresh(1), says("42")]),
        limits: plain(),
        stop: StopReason::Answer,
        answer: Some("42"),
        executed: 1,
        turns: 2,
    })
    .await;
}

#[tokio::test]
async fn turns_are_bounded() {
    check(Case {
        script: steps((0..9).map(fresh)),
        limits: plain(),
        stop: StopReason::MaxTurns { max_turns: 8 },
        answer: None,
        executed: 8,
        turns: 8,
    })
    .await;
    check(Case {
        script: steps([fresh(1), says("late")]),
        limits: plain().with_max_turns(1).unwrap(),
        stop: StopReason::MaxTurns { max_turns: 1 },
        answer: None,
        executed: 1,
        turns: 1,
    })
    .await;
}

#[tokio::test]
async fn tokens_are_bounded() {
    check(Case {
        script: steps([costing(fresh(1), 60, 10), costing(fresh(2), 90, 10), says("late")]),
        limits: plain().with_token_budget(150).unwrap(),
        stop: StopReason::TokenBudget { budget: 150, spent: 170 },
        answer: None,
        executed: 2,
        turns: 2,
    })
    .await;
}

#[tokio::test]
async fn an_answer_over_the_budget_is_still_an_answer() {
    check(Case {
        script: steps([costing(says("42"), 1000, 10)]),
        limits: plain().with_token_budget(5).unwrap(),
        stop: StopReason::Answer,
        answer: Some("42"),
        executed: 0,
        turns: 1,
    })
    .await;
}

#[tokio::test]
async fn tokens_that_are_not_counted_are_estimated() {
    let (model, provider) = (Script::new([fresh(1), fresh(2)]), Answers::done());
    let limits = plain().with_token_budget(10).unwrap();
    let outcome = run(&chain_with(&model, &provider, limits)).await;
    assert!(matches!(outcome.stop, StopReason::TokenBudget { budget: 10, spent: 10.. }));
    assert!(outcome.metrics.is_estimated);
    assert_eq!(outcome.metrics.turns, 1);
}

#[tokio::test]
async fn a_failing_model_ends_the_chain_with_an_outcome() {
    let provider = "p".to_owned();
    let message = "slow down".to_owned();
    let error = ModelError::Status { provider, status: 429, message, retry_after: None };
    check(Case {
        script: vec![fresh(1).into(), Step::Fail(error)],
        limits: plain(),
        stop: StopReason::ModelError {
            message: "p answered 429: slow down".to_owned(),
            status: Some(429),
        },
        answer: None,
        executed: 1,
        turns: 2,
    })
    .await;
}

#[tokio::test]
async fn a_withheld_reply_executes_nothing() {
    check(Case {
        script: steps([ChatReply { finish: FinishReason::ContentFilter, ..fresh(1) }]),
        limits: plain(),
        stop: StopReason::ContentFilter { calls: 1 },
        answer: None,
        executed: 0,
        turns: 1,
    })
    .await;
}

#[tokio::test]
async fn an_empty_reply_is_reminded_of_once() {
    check(Case {
        script: steps([says(" \n"), says(""), says("late")]),
        limits: plain(),
        stop: StopReason::EmptyReply { replies: 2 },
        answer: None,
        executed: 0,
        turns: 2,
    })
    .await;
    check(Case {
        script: steps([says(""), fresh(1), says(""), says("42")]),
        limits: plain(),
        stop: StopReason::Answer,
        answer: Some("42"),
        executed: 1,
        turns: 4,
    })
    .await;
}

#[tokio::test]
async fn the_reminder_reaches_the_model_and_the_empty_reply_does_not() {
    let (model, provider) = (Script::new([says(""), says("42")]), Answers::done());
    run(&chain_of(&model, &provider)).await;
    let second = &model.requests()[1].messages;
    assert_eq!(second[..2], task()[..]);
    assert!(matches!(&second[2..], [Message::User(text)] if text.contains("was empty")));
}

/// Turns of calls, and how many calls were executed before the chain stopped.
async fn check_repeated<const N: usize, const M: usize>(
    turns: [[(&str, &str, &str); N]; M],
    expected: Option<usize>,
) {
    let script = turns.map(asks).into_iter().chain([says("42")]);
    let (model, provider) = (Script::new(script), Answers::done());
    let polling = Annotations { is_polling: true, ..Annotations::default() };
    let status = ToolSpec::new("status", "", json!({"type": "object"})).unwrap();
    let chain = chain_of(&model, &provider).with_tools([status.with_annotations(polling)]);
    let outcome = run(&chain).await;
    match (&outcome.stop, expected) {
        (StopReason::RepeatedCall { turns: 3, .. }, Some(executed)) => {
            assert_eq!(provider.count(), executed);
            assert!(outcome.answer.is_none());
        }
        (StopReason::Answer, None) => assert_eq!(provider.count(), N * M),
        (stop, _) => panic!("{turns:?} stopped with {stop:?}"),
    }
}

#[tokio::test]
async fn repeated_calls_stop_the_chain() {
    let same = ("a", "read", r#"{"x": 1, "y": 2}"#);
    let other_order = ("b", "read", r#"{"y": 2, "x": 1}"#);
    check_repeated([[same], [other_order], [same]], Some(2)).await;
    // A parallel batch in another order.
    let beside = ("", "list", "{}");
    check_repeated([[same, beside], [beside, same], [other_order, beside]], Some(4)).await;
    // Another call in between breaks the row.
    check_repeated([[same], [same], [beside], [same], [same]], None).await;
    // A tool that is meant to be polled.
    let status = ("", "status", "{}");
    check_repeated([[status], [status], [status], [status]], None).await;
}

#[tokio::test]
async fn a_repeated_call_is_named_with_its_arguments() {
    let call = [("", "read", r#"{"y": 2, "x": 1}"#)];
    let (model, provider) = (Script::new([asks(call), asks(call), asks(call)]), Answers::done());
    let outcome = run(&chain_of(&model, &provider)).await;
    let text = outcome.stop.to_string();
    assert_eq!(text, r#"read was called with {"x":1,"y":2} 3 turns in a row"#);
    assert_eq!(outcome.metrics.cancelled_calls, 1);
}

#[tokio::test]
async fn a_broken_source_of_results_ends_the_chain_with_an_outcome() {
    let provider = Answers::new(|call| match call.name.as_str() {
        "good" => Ok(ok(call, "done")),
        _ => Err(ProviderError::new("line 7: the input ended").with_source("broken pipe")),
    });
    let model = Script::new([asks([("a", "good", "{}"), ("b", "bad", "{}"), ("c", "good", "{}")])]);
    let outcome = run(&chain_of(&model, &provider)).await;
    let message = "line 7: the input ended: broken pipe".to_owned();
    assert_eq!(outcome.stop, StopReason::ProviderError { message });
    assert_eq!(provider.count(), 2);
    assert_eq!(outcome.metrics.cancelled_calls, 2);
}

#[tokio::test]
async fn a_result_of_another_call_is_a_broken_source() {
    let provider = Answers::new(|call| Ok(ToolResult { call_id: "x".into(), ..ok(call, "") }));
    let model = Script::new([asks([("a", "read", "{}")])]);
    let outcome = run(&chain_of(&model, &provider)).await;
    let message = r#"expected the result of call "a", got one of call "x""#.to_owned();
    assert_eq!(outcome.stop, StopReason::ProviderError { message });
}

#[tokio::test]
async fn no_failure_of_a_tool_ends_the_chain() {
    let provider = Answers::new(|call| {
        let error = match call.name.as_str() {
            "unknown" => ToolError::UnknownTool { name: call.name.clone(), closest: None },
            "failing" => ToolError::failed("no such file"),
            _ => ToolError::MalformedCall { message: "no JSON".to_owned() },
        };
        Ok(ToolResult::error(call.id.clone(), call.name.clone(), &error))
    });
    let calls = [("", "unknown", "{}"), ("", "failing", "{}"), ("", "odd", "{")];
    let model = Script::new([asks(calls), says("I could not.")]);
    let outcome = run(&chain_of(&model, &provider)).await;
    assert_eq!(outcome.answer.as_deref(), Some("I could not."));
    let metrics = outcome.metrics;
    assert_eq!((metrics.calls, metrics.refused_calls, metrics.failed_calls), (3, 2, 1));
    let is_error = |message: &Message| matches!(message, Message::Tool { is_error: true, .. });
    assert_eq!(outcome.messages.iter().filter(|message| is_error(message)).count(), 3);
}

#[tokio::test]
async fn a_full_context_stops_before_the_request() {
    let policy = ContextPolicy::default().with_window(64, 20).unwrap();
    let long = [Message::User("word ".repeat(100))];
    let (model, provider) = (Script::new([says("42")]), Answers::done());
    for eviction in [Eviction::Refuse, Eviction::DropOldest, Eviction::Summarize] {
        let chain = chain_of(&model, &provider).with_context(policy.with_eviction(eviction));
        let outcome = chain.run(long.to_vec(), &NoObserver, Default::default()).await.unwrap();
        let expected = StopReason::ContextFull {
            estimated_tokens: 129,
            window_tokens: 64,
            reserve_tokens: 20,
        };
        assert_eq!(outcome.stop, expected);
        assert!(model.requests().is_empty());
    }
}

#[tokio::test]
async fn mistakes_of_the_operator_are_errors() {
    let (model, provider) = (Script::new([says("42")]), Answers::done());
    let chain = chain_of(&model, &provider);
    let refused =
        async |messages| chain.run(messages, &NoObserver, Default::default()).await.unwrap_err();
    assert_eq!(refused(Vec::new()).await, ChainError::NoTask);
    let mut broken = task();
    broken.push(Message::Assistant(asks([("a", "read", "{}")])));
    broken.push(Message::User("And?".to_owned()));
    assert_eq!(
        refused(broken).await.to_string(),
        r#"the conversation is broken at message 3: expected the result of call "a""#
    );
    let spec = ToolSpec::new("read", "", json!({})).unwrap();
    let chain = chain_of(&model, &provider).with_tools([spec.clone(), spec]);
    let error = chain.run(task(), &NoObserver, Default::default()).await.unwrap_err();
    assert_eq!(error, ChainError::DuplicateTool("read".to_owned()));
    assert!(model.requests().is_empty());
}
