//! `remit agent --results`: calls answered from a recording, or by a program on a line.

use serde_json::{Value, json};

use crate::support::{Place, json_lines};

const SCRIPT: &str = r#"{"calls": [{"id": "c1", "name": "add", "arguments": {"a": 1}}]}
{"text": "Two.", "expect": {"last_tool_contains": "2"}}
"#;

fn place() -> Place {
    let place = Place::new();
    place.file("replies.jsonl", SCRIPT);
    place.file("defs.json", r#"{"name": "add", "parameters": {"type": "object"}}"#);
    place
}

const AGENT: [&str; 8] =
    ["agent", "task", "--replay", "replies.jsonl", "--tools", "defs.json", "--results", "recorded"];

#[test]
fn a_recording_answers_call_by_call() {
    let place = place();
    let check = |recording: &str, code: i32, stdout: &str, said: &str| {
        place.file("recorded", recording);
        let output = place.remit(AGENT).run().ended(code);
        assert_eq!(output.stdout, stdout);
        assert!(output.stderr.contains(said), "{}", output.stderr);
    };
    check(r#"{"result": "2"}"#, 0, "Two.\n", "");
    check(
        r#"{"expected_call": {"name": "add", "arguments": {"a": 1}}, "result": "2"}"#,
        0,
        "Two.\n",
        "",
    );
    check(
        r#"{"expected_call": {"name": "sub"}, "result": "2"}"#,
        1,
        "",
        "line 1: expected a call of \"sub\"",
    );
    check("", 1, "", "the recording has 0 results");
    check(
        "{\"result\": \"2\"}\n{\"result\": \"3\"}",
        1,
        "Two.\n",
        "line 2: this result was never asked for",
    );
    check("{\"result\": 5}", 2, "", "--results: recorded: line 1");
}

#[test]
fn a_program_answers_on_a_line() {
    let place = place();
    let mut args = AGENT;
    args[7] = "-";
    let mut run = place.remit(args).open_input().spawn();
    run.until("the call", |run| run.stdout().contains('\n'));
    let call: Value = json_lines(&run.stdout()).remove(0);
    assert_eq!(call, json!({"id": "c1", "name": "add", "arguments": {"a": 1}}));
    let content = json!([{"type": "text", "text": "2"}]);
    let result = json!({
        "call_id": "c1", "tool": "add", "status": "ok", "content": content, "duration_ms": 1.0,
    });
    run.write(&format!("{result}\n"));
    let output = run.finish().ended(0);
    assert!(output.stdout.ends_with("}\nTwo.\n"), "{}", output.stdout);
    assert_eq!(output.stderr, "");
}

#[test]
fn a_program_that_answers_something_else_or_nothing_is_told() {
    let place = place();
    let mut args = AGENT;
    args[7] = "-";
    let check = |input: &str, said: &str| {
        let output = place.remit(args).input(input).run().ended(1);
        assert!(output.stderr.contains(said), "{}", output.stderr);
    };
    check("", "the input ended");
    check("hello\n", "line 1: not JSON");
    check(
        "{\"call_id\": \"c2\", \"tool\": \"add\", \"status\": \"ok\", \"content\": []}\n",
        "\"c2\"",
    );
}
