//! The lines that `remit exec` reads: their ends, their lengths, and what is no call.

use crate::support::{Place, answers, expected};

const READ: &str = r#""name": "read_file_in_workdir", "arguments": {"path": "note.txt"}"#;

fn call(id: &str) -> String {
    format!("{{\"id\": \"{id}\", {READ}}}")
}

/// Executes what is on standard input, and compares ids and kinds.
#[track_caller]
fn check(input: impl Into<Vec<u8>>, kinds: &[(&str, &str)]) {
    let place = Place::new();
    let output =
        place.remit(["exec"].into_iter().chain(place.workdir())).input(input).run().ended(0);
    assert_eq!(answers(&output.json()), expected(kinds));
    assert_eq!(output.stderr, "");
}

#[test]
fn lines_end_in_any_usual_way() {
    let (a, b) = (call("a"), call("b"));
    let both = [("a", "ok"), ("b", "ok")];
    check(format!("{a}\n{b}\n"), &both);
    check(format!("{a}\n{b}"), &both);
    check(format!("{a}\r\n{b}\r\n"), &both);
    check(format!("\n\n{a}\n \t\r\n\n{b}\n\n"), &both);
    check(format!("\u{feff}{a}\n{b}\n"), &both);
    check("", &[]);
    check("\n \n", &[]);
}

#[test]
fn what_is_no_call_is_answered_at_its_place() {
    let mut input = call("a").into_bytes();
    input.extend(b"\n{\"id\": \"b\", \"name\": \"\xff\"}\nhello\n[]\n\0\n");
    input.extend(call("c").into_bytes());
    let malformed = ("", "malformed_call");
    check(input, &[("a", "ok"), malformed, malformed, malformed, malformed, ("c", "ok")]);
    let twice = format!("{} {}\n{}", call("a"), call("b"), call("c"));
    check(twice, &[("a", "malformed_call"), ("c", "ok")]);
}

#[test]
fn double_and_empty_ids_are_answered_each() {
    let input = format!("{}\n{}\n{}\n{{{READ}}}\n", call("same"), call("same"), call(""));
    check(input, &[("same", "ok"), ("same", "ok"), ("", "ok"), ("", "ok")]);
}

#[test]
fn twenty_mebibytes_of_arguments_are_too_large_and_the_next_call_is_answered() {
    let long = "x".repeat(20 << 20);
    let large = format!(
        "{{\"id\": \"a\", \"name\": \"read_file_in_workdir\", \"arguments\": {{\"path\": \"{long}\"}}}}"
    );
    check(format!("{large}\n{}\n", call("b")), &[("a", "arguments_too_large"), ("b", "ok")]);
}

#[test]
fn a_line_over_the_ceiling_is_no_call_and_the_next_one_is_answered() {
    let mut input = vec![b'x'; 33 << 20];
    input.extend(format!("\n{}\n", call("b")).into_bytes());
    let place = Place::new();
    let output =
        place.remit(["exec"].into_iter().chain(place.workdir())).input(input).run().ended(0);
    let results = output.json();
    assert_eq!(answers(&results), expected(&[("", "malformed_call"), ("b", "ok")]));
    let message = results[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("33554432 bytes"), "{message}");
}

#[test]
fn paths_may_hold_spaces() {
    let place = Place::new();
    place.file("a dir/note.txt", "a note\n");
    place.file("my calls.jsonl", call("a"));
    let flags =
        ["--execute-tools", "--allow-tool", "read_file_in_workdir", "--exec-workdir", "a dir"];
    let output = place.remit(["exec", "my calls.jsonl"].into_iter().chain(flags)).run().ended(0);
    assert_eq!(answers(&output.json()), expected(&[("a", "ok")]));
}
