//! From a configuration to the model's next request: real tools, the real sandbox, the real chain, and
//! a model that is asked for real.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;
mod wire;

use model::Message;

use crate::support::{Bench, asks, says};

/// What the model reads back of each call of its reply, in order.
fn results(messages: &[Message]) -> Vec<(&str, &str, bool)> {
    let results = messages.iter().filter_map(|message| match message {
        Message::Tool { call_id, content, is_error, .. } => {
            Some((call_id.as_str(), content.as_str(), *is_error))
        }
        _ => None,
    });
    results.collect()
}

#[tokio::test]
async fn execution_result_re_ingests_correctly_into_the_next_chain_step() {
    let bench = Bench::new();
    let calls = [
        ("first", "read_file_in_workdir", r#"{"path": "note.txt"}"#),
        ("outside", "read_file_in_workdir", r#"{"path": "../outside.txt"}"#),
        ("refused", "search_in_workdir", r#"{"pattern": "note"}"#),
        ("unknown", "send_mail", "{}"),
        ("malformed", "read_file_in_workdir", r#"{"path": "#),
        ("long", "read_file_in_workdir", r#"{"path": "long.txt"}"#),
        ("last", "read_file_in_workdir", r#"{"path": "note.txt", "offset": 4}"#),
    ];
    let (outcome, requests) = bench.run([asks(&calls), says("It is a note.")]).await;
    assert!(outcome.stop.is_answer(), "{:?}", outcome.stop);
    assert_eq!(outcome.answer.as_deref(), Some("It is a note."));

    // What the model was asked in the second request, not what the outcome says it was.
    let [first, second] = &requests[..] else { panic!("two requests, not {}", requests.len()) };
    let offered: Vec<_> = first.tools.iter().map(|tool| tool.name().as_str()).collect();
    assert_eq!(offered, ["read_file_in_workdir"], "only what may be called is offered");
    assert_eq!(second.messages[..first.messages.len()], first.messages[..]);
    let Message::Assistant(reply) = &second.messages[first.messages.len()] else { panic!() };
    assert_eq!(reply.calls.len(), calls.len(), "the reply goes back whole");

    let results = results(&second.messages);
    let ids: Vec<_> = results.iter().map(|(id, ..)| *id).collect();
    assert_eq!(ids, calls.map(|(id, ..)| id), "every call is answered, in the order of the calls");
    assert_eq!(results[0], ("first", "The note: καλημέρα\n", false));
    let refused = [
        (1, "leaves the working directory"),
        (2, "search_in_workdir is not authorized"),
        (3, "No tool is named \"send_mail\""),
        (4, "can't be read as JSON"),
    ];
    for (at, said) in refused {
        let (id, content, is_error) = results[at];
        assert!(is_error && content.contains(said), "{id}: {content}");
        assert!(!content.contains("secret"), "{id}: {content}");
    }
    check_long(results[5].1);
    assert!(!results[5].2);
    assert_eq!(results[6], ("last", "note: καλημέρα\n", false));
}

/// The text of a file of 10,000 bytes where 1,000 are the ceiling: what it begins and ends with, and how
/// much is missing.
fn check_long(text: &str) {
    assert!(text.starts_with("0000\n0001\n"), "{text}");
    assert!(text.len() < 1200, "{} bytes", text.len());
    let kept = text.lines().filter(|line| line.len() == 4 && line.parse::<u32>().is_ok());
    let kept = kept.count() * 5;
    let omitted = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse::<usize>().ok())
        .find(|number| *number > 8000 && *number < 10_000);
    let omitted = omitted.unwrap_or_else(|| panic!("it does not say how much is missing: {text}"));
    // The two ends of the cut may be parts of a line.
    assert!((9990..=10_000).contains(&(kept + omitted)), "{kept} kept, {omitted} left out: {text}");
}
