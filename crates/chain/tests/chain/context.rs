//! A conversation that outgrows the context window, seen from the model's side.

use std::sync::Mutex;

use chain::{ChainEvent, ChainLimits, ChainOutcome, ContextPolicy, Eviction, StopReason};
use model::{ChatReply, ChatRequest, Message, ModelError};

use crate::support::{Answers, Script, Step, asks, chain_of, check_invariants, ok, says, task};

const WINDOW: u64 = 400;

/// Turn after turn a result of about 60 tokens.
async fn run(
    eviction: Eviction,
    steps: Vec<Step>,
) -> (ChainOutcome, Vec<ChatRequest>, Vec<ChainEvent>) {
    let model = Script::new(steps);
    let provider = Answers::new(|call| Ok(ok(call, &"word ".repeat(48))));
    let policy = ContextPolicy::default()
        .with_window(WINDOW, 100)
        .and_then(|policy| policy.with_keep_exchanges(2))
        .unwrap()
        .with_eviction(eviction);
    let limits = ChainLimits::default().with_max_turns(20).unwrap();
    let chain = chain_of(&model, &provider).with_context(policy).with_limits(limits);
    let events = Mutex::new(Vec::new());
    let observer = |event: &ChainEvent| {
        if matches!(event, ChainEvent::Evicted { .. }) {
            events.lock().unwrap().push(event.clone());
        }
    };
    let outcome = chain.run(task(), &observer, Default::default()).await.unwrap();
    check_invariants(&outcome);
    (outcome, model.requests(), events.into_inner().unwrap())
}

fn turn(number: usize) -> ChatReply {
    asks([("", "read", &format!("{{\"n\": {number}}}"))])
}

fn notes(request: &ChatRequest) -> Vec<&str> {
    let notes = request.messages.iter().filter_map(|message| match message {
        Message::User(text) if text.starts_with('[') => Some(text.as_str()),
        _ => None,
    });
    notes.collect()
}

#[tokio::test]
async fn the_oldest_exchanges_are_dropped_and_a_note_says_so() {
    let steps = (0..10).map(turn).chain([says("done")]).map(Step::from).collect();
    let (outcome, requests, events) = run(Eviction::DropOldest, steps).await;
    assert_eq!(outcome.stop, StopReason::Answer);
    assert_eq!(requests.len(), 11);
    assert_eq!(outcome.messages.len(), 2 + 20 + 1, "the transcript keeps everything");
    let last = requests.last().unwrap();
    assert_eq!(last.messages[..2], task()[..]);
    assert_eq!(notes(last), ["[7 earlier exchanges left out to fit the context window.]"]);
    assert_eq!(last.messages[3..], outcome.messages[16..22]);
    assert_eq!(outcome.metrics.evictions, 7);
    assert_eq!(events.len(), 7);
    for event in events {
        let ChainEvent::Evicted { estimated_tokens, is_summarized, .. } = event else { panic!() };
        assert!(estimated_tokens <= WINDOW - 100 && !is_summarized);
    }
}

#[tokio::test]
async fn what_the_provider_counts_decides() {
    let small = "x";
    let model = Script::new([
        crate::support::costing(turn(0), 100, 10),
        crate::support::costing(turn(1), 250, 10),
        crate::support::costing(turn(2), 350, 10),
        says("done"),
    ]);
    let provider = Answers::new(move |call| Ok(ok(call, small)));
    let policy = ContextPolicy::default()
        .with_window(WINDOW, 100)
        .and_then(|policy| policy.with_keep_exchanges(1))
        .unwrap();
    let chain = chain_of(&model, &provider).with_context(policy);
    let outcome = crate::support::run(&chain).await;
    // By its bytes the conversation is far below the window.
    assert_eq!(notes(&model.requests()[3]).len(), 1);
    assert!(outcome.metrics.evictions > 0);
}

#[tokio::test]
async fn a_summary_takes_the_place_of_the_oldest_exchanges() {
    let mut steps: Vec<Step> = (0..4).map(|number| turn(number).into()).collect();
    steps.push(crate::support::costing(says("It read four files."), 70, 30).into());
    steps.push(says("done").into());
    let (outcome, requests, events) = run(Eviction::Summarize, steps).await;
    assert_eq!(outcome.stop, StopReason::Answer);
    assert_eq!(outcome.metrics.summaries, 1);
    assert_eq!(outcome.metrics.turns, 5, "a summary is no turn");
    assert!(matches!(events[..], [ChainEvent::Evicted { is_summarized: true, .. }]));

    let summary = &requests[4];
    assert!(summary.tools.is_empty());
    assert!(summary.sampling.max_tokens.is_some_and(|tokens| tokens <= 512));
    let [Message::System(_), Message::User(text)] = &summary.messages[..] else { panic!() };
    assert!(text.contains("Do it.") && text.contains(r#"model calls read: {"n": 0}"#));
    assert!(text.contains("read answers: word word"));

    let last = requests.last().unwrap();
    assert_eq!(notes(last), ["[Summary of 2 earlier exchanges:]\nIt read four files."]);
}

#[tokio::test]
async fn a_summary_that_fails_becomes_a_drop() {
    let failures: [Step; 2] =
        [Step::Fail(ModelError::Config("no".to_owned())), Step::Reply(says("  "))];
    for failure in failures {
        let mut steps: Vec<Step> = (0..4).map(|number| turn(number).into()).collect();
        steps.push(failure);
        steps.push(says("done").into());
        let (outcome, requests, events) = run(Eviction::Summarize, steps).await;
        assert_eq!(outcome.answer.as_deref(), Some("done"));
        assert_eq!((outcome.metrics.summaries, outcome.metrics.evictions), (0, 2));
        assert!(matches!(events[..], [ChainEvent::Evicted { is_summarized: false, .. }]));
        let left_out = "[2 earlier exchanges left out to fit the context window.]";
        assert_eq!(notes(requests.last().unwrap()), [left_out]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_hangs_becomes_a_drop() {
    let mut steps: Vec<Step> = (0..4).map(|number| turn(number).into()).collect();
    let held = std::sync::Arc::new(());
    steps.push(Step::Hang(std::sync::Arc::clone(&held)));
    steps.push(says("done").into());
    let (outcome, _, _) = run(Eviction::Summarize, steps).await;
    assert_eq!(outcome.answer.as_deref(), Some("done"));
    assert_eq!(outcome.metrics.wall_ms, 60_000);
    assert_eq!(std::sync::Arc::strong_count(&held), 1);
}

#[tokio::test]
async fn the_next_summary_knows_the_one_before() {
    let mut steps: Vec<Step> = (0..4).map(|number| turn(number).into()).collect();
    steps.push(says("First part.").into());
    steps.extend((4..6).map(|number| Step::from(turn(number))));
    steps.push(says("First and second part.").into());
    steps.push(says("done").into());
    let (outcome, requests, _) = run(Eviction::Summarize, steps).await;
    assert_eq!(outcome.metrics.summaries, 2);
    let Message::User(text) = &requests[7].messages[1] else { panic!() };
    assert!(text.contains("Summary of what came before:\nFirst part."), "{text}");
    let notes = notes(requests.last().unwrap());
    assert_eq!(notes.len(), 1);
    assert!(notes[0].ends_with("First and second part."));
}

#[tokio::test]
async fn refusing_stops_before_the_request() {
    let steps = (0..10).map(turn).map(Step::from).collect();
    let (outcome, requests, events) = run(Eviction::Refuse, steps).await;
    assert!(matches!(
        outcome.stop,
        StopReason::ContextFull {
            estimated_tokens: 301..,
            window_tokens: WINDOW,
            reserve_tokens: 100
        }
    ));
    assert_eq!(requests.len(), 4);
    assert!(events.is_empty());
}

#[tokio::test]
async fn an_earlier_conversation_can_leave_and_the_task_stays() {
    let mut messages = vec![Message::System("Be brief.".to_owned())];
    for number in 0..6 {
        messages.push(Message::User(format!("question {number} {}", "word ".repeat(48))));
        messages.push(Message::Assistant(says("fine")));
    }
    messages.push(Message::User("the task".to_owned()));
    let (model, provider) = (Script::new([says("done")]), Answers::done());
    let policy = ContextPolicy::default()
        .with_window(WINDOW, 100)
        .and_then(|policy| policy.with_keep_exchanges(2))
        .unwrap();
    let chain = chain_of(&model, &provider).with_context(policy);
    let outcome = chain.run(messages, &chain::NoObserver, Default::default()).await.unwrap();
    assert_eq!(outcome.answer.as_deref(), Some("done"));
    let sent = &model.requests()[0].messages;
    assert_eq!(sent.last(), Some(&Message::User("the task".to_owned())));
    assert_eq!(sent.first(), Some(&Message::System("Be brief.".to_owned())));
    assert!(matches!(&sent[1], Message::User(note) if note.contains("left out")));
    assert!(sent.len() >= 2 + 1 + 4 && sent.len() < 12, "{}", sent.len());
}
