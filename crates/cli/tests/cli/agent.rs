//! `remit agent` with a replayed model: what is executed, shown, printed, and when it stops.

use serde_json::{Value, json};

use crate::support::{Place, repository};

const READS: &str = r#"{"text": "I look.", "calls": [{"id": "c1", "name": "read_file_in_workdir", "arguments": {"path": "note.txt"}}], "usage": {"input_tokens": 60, "output_tokens": 50}}"#;
const ANSWERS: &str =
    r#"{"text": "It is a note.", "expect": {"last_tool_contains": "a note", "tool_results": 1}}"#;

fn place() -> Place {
    let place = Place::new();
    place.file("replies.jsonl", format!("{READS}\n{ANSWERS}\n"));
    place
}

const AGENT: [&str; 4] = ["agent", "What is in it?", "--replay", "replies.jsonl"];

#[test]
fn the_example_is_executed_to_its_answer() {
    let place = Place::new();
    let (script, workdir) = (repository("data/agent_smoke.jsonl"), repository("data/workdir"));
    let args = ["agent", "How many things are there?", "--replay", &script, "--execute-tools"];
    let allow = ["--allow-tool", "read_file_in_workdir", "--allow-tool", "list_dir_in_workdir"];
    let args = args.into_iter().chain(allow).chain(["--exec-workdir", &workdir]);
    let output = place.remit(args).run().ended(0);
    assert_eq!(output.stdout, "There are 17 things: 4 lamps, 12 chairs and a kettle.\n");
    assert_eq!(output.stderr, "");
}

#[test]
fn without_execution_calls_are_shown_and_can_be_executed_later() {
    let place = place();
    let tools = repository("data/tools_sandbox_smoke.json");
    let shown = place.remit(AGENT.iter().chain(&["--tools", &tools])).run().ended(0);
    let call = json!({
        "id": "c1", "name": "read_file_in_workdir", "arguments": {"path": "note.txt"},
    });
    assert_eq!(shown.json(), [call]);
    assert!(shown.stderr.contains("I look."), "{}", shown.stderr);
    assert!(shown.stderr.contains("shown, not executed; add --execute-tools"), "{}", shown.stderr);

    let exec = ["exec"].into_iter().chain(place.workdir());
    let executed = place.remit(exec).input(shown.stdout).run().ended(0);
    assert_eq!(executed.json()[0]["content"][0]["text"], "a note\n");
}

#[test]
fn arguments_that_are_no_json_are_shown_as_they_are() {
    let place = Place::new();
    place
        .file("replies.jsonl", r#"{"calls": [{"id": "x", "name": "f", "arguments": "{\"a\": "}]}"#);
    let shown = place.remit(AGENT).run().ended(0);
    assert_eq!(shown.json(), [json!({"id": "x", "name": "f", "arguments": "{\"a\": "})]);
}

#[test]
fn an_answer_without_calls_is_an_answer_also_where_nothing_is_executed() {
    let place = Place::new();
    place.file("replies.jsonl", r#"{"text": "hello"}"#);
    let output = place.remit(AGENT).run().ended(0);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("hello\n", ""));
}

#[test]
fn events_are_lines_of_json_and_the_outcome_is_the_last() {
    let place = place();
    let args = AGENT.into_iter().chain(place.workdir()).chain(["--json"]);
    let output = place.remit(args).run().ended(0);
    assert_eq!(output.stderr, "");
    let events = output.json();
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "turn_started",
            "text_delta",
            "call_announced",
            "call_started",
            "call_finished",
            "turn_finished",
            "turn_started",
            "text_delta",
            "turn_finished",
            "stopped",
            "outcome",
        ]
    );
    let finished = &events[4]["result"];
    assert_eq!((&finished["call_id"], &finished["status"]), (&json!("c1"), &json!("ok")));
    let outcome = events.last().unwrap();
    assert_eq!(outcome["answer"], "It is a note.");
    assert_eq!(outcome["stop"]["reason"], "answer");
    assert_eq!(outcome["metrics"]["calls"], 1);
}

/// Runs a script with a flag that stops it; gives the stop reason, and what was on standard error.
fn stopped(script: &str, flags: &[&str]) -> (Value, String) {
    let place = place();
    place.file("replies.jsonl", script);
    let args = AGENT.into_iter().chain(place.workdir()).chain(["--json"]);
    let output = place.remit(args.chain(flags.iter().copied())).run().ended(1);
    let stop = output.json().last().unwrap()["stop"].clone();
    (stop, output.stderr)
}

#[test]
fn a_chain_stops_at_the_limits_of_its_flags() {
    let twice = format!("{READS}\n{}\n", READS.replace("note.txt", "./note.txt"));
    let check = |flags: &[&str], reason: &str, said: &str| {
        let (stop, stderr) = stopped(&twice, flags);
        assert_eq!(stop["reason"], reason);
        assert!(stderr.contains("remit: no answer: ") && stderr.contains(said), "{stderr}");
    };
    check(&["--max-steps", "1"], "max_turns", "all 1 turns were used");
    check(&["--max-turns", "2"], "max_turns", "all 2 turns were used");
    check(&["--token-budget", "100"], "token_budget", "the budget is 100");
    check(&[], "model_error", "the script has 2 replies");
    let again = format!("{READS}\n{READS}\n{READS}\n");
    let (stop, _) = stopped(&again, &[]);
    assert_eq!(stop["reason"], "repeated_call");
}

#[test]
fn what_was_said_before_a_stop_is_printed() {
    let place = place();
    let args = AGENT.into_iter().chain(place.workdir()).chain(["--max-steps", "1"]);
    let output = place.remit(args).run().ended(1);
    assert_eq!(output.stdout, "I look.\n");
    assert!(output.stderr.contains("no answer: all 1 turns were used"), "{}", output.stderr);
}

#[test]
fn a_reply_that_expected_another_request_is_named_by_its_line() {
    let place = place();
    place.file("replies.jsonl", format!("{READS}\n{}", ANSWERS.replace("a note", "a poem")));
    let output = place.remit(AGENT.into_iter().chain(place.workdir())).run().ended(1);
    assert!(output.stderr.contains("line 2 of the script"), "{}", output.stderr);
    assert!(output.stderr.contains("\"a poem\""), "{}", output.stderr);
}

#[test]
fn a_call_that_is_asked_for_without_a_terminal_goes_back_as_refused() {
    let place = place();
    let answer = r#"{"text": "No.", "expect": {"last_tool_contains": "nobody", "last_tool_is_error": true}}"#;
    place.file("replies.jsonl", format!("{READS}\n{answer}"));
    let args =
        AGENT.into_iter().chain(place.workdir()).chain(["--ask-tool", "read_file_in_workdir"]);
    let output = place.remit(args).run();
    assert_eq!(output.stdout, "No.\n", "{}", output.stderr);
}
