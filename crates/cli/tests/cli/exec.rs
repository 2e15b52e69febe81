//! `remit exec`: what is executed, and in which order it is answered.

use crate::support::{Place, answers, expected, repository};

#[test]
fn the_first_example_answers_every_call_in_order() {
    let place = Place::new();
    let (tools, calls) =
        (repository("data/tools_sandbox_smoke.json"), repository("data/calls_smoke.jsonl"));
    let workdir = repository("data/workdir");
    let args = ["exec", "--tools", &tools, "--execute-tools"];
    let allow = ["--allow-tool", "read_file_in_workdir", "--exec-workdir", &workdir, &calls];
    let output = place.remit(args.iter().chain(&allow)).run().ended(0);
    assert_eq!(output.stderr, "");
    let results = output.json();
    let kinds = expected(&[
        ("read-openai", "ok"),
        ("read-flat", "ok"),
        ("read-anthropic", "ok"),
        ("read-part", "ok"),
        ("double-encoded", "ok"),
        ("unknown-tool", "unknown_tool"),
        ("wrong-case", "unknown_tool"),
        ("not-authorized", "unauthorized"),
        ("escape-parent", "execution_failed"),
        ("escape-absolute", "execution_failed"),
        ("missing-argument", "invalid_arguments"),
        ("wrong-type", "invalid_arguments"),
        ("cut-off-arguments", "invalid_arguments"),
        ("too-large", "arguments_too_large"),
        ("cut-off-line", "malformed_call"),
    ]);
    assert_eq!(answers(&results), kinds);
    assert!(results[2]["content"][0]["text"].as_str().unwrap().contains("καλημέρα"));
    assert_eq!(results[4]["reading"], "decoded_string");
    assert_eq!(results[6]["error"]["details"]["closest"], "read_file_in_workdir");
    // The same from standard input, and side by side.
    let input = std::fs::read(&calls).unwrap();
    let stdin = args.iter().chain(&allow[..4]).chain(&["--jobs", "4", "-"]);
    let again = place.remit(stdin).input(input).run().ended(0);
    assert_eq!(answers(&again.json()), kinds);
}

#[test]
fn refusals_are_answers_unless_told_otherwise() {
    let place = Place::new();
    let flags = place.workdir();
    place.file(
        "good",
        r#"{"id": "1", "name": "read_file_in_workdir", "arguments": {"path": "note.txt"}}"#,
    );
    place.file("bad", r#"{"id": "1", "name": "nope"}"#);
    let check = |file: &str, flag: Option<&str>, code: i32| {
        let args = ["exec", file].into_iter().chain(flags).chain(flag);
        let output = place.remit(args).run().ended(code);
        assert_eq!(output.stdout.lines().count(), 1);
        assert_eq!(output.stderr, "");
    };
    check("good", None, 0);
    check("good", Some("--fail-on-error"), 0);
    check("bad", None, 0);
    check("bad", Some("--fail-on-error"), 1);
}

#[test]
fn results_keep_the_order_of_the_calls_whatever_takes_longer() {
    let place = Place::new();
    let flags = place.workdir();
    for n in 0..400 {
        place.file(&format!("work/many/{n}.txt"), "line\n".repeat(200));
    }
    // A slow search, then a quick file, again and again.
    let mut calls = String::new();
    for n in 0..20 {
        let search = r#""search_in_workdir", "arguments": {"pattern": "li.e$", "regex": true}"#;
        let read = r#""read_file_in_workdir", "arguments": {"path": "note.txt"}"#;
        let call = if n % 2 == 0 { search } else { read };
        calls += &format!("{{\"id\": \"{n}\", \"name\": {call}}}\n");
    }
    let run = |jobs: &str| {
        let args = ["exec"].into_iter().chain(flags);
        let args = args.chain(["--allow-tool", "search_in_workdir", "--jobs", jobs]);
        place.remit(args).input(calls.clone()).run().ended(0)
    };
    let ids: Vec<_> = (0..20).map(|n| (n.to_string(), "ok".to_owned())).collect();
    for jobs in ["1", "4"] {
        assert_eq!(answers(&run(jobs).json()), ids, "--jobs {jobs}");
    }
}

#[test]
fn each_result_is_out_as_soon_as_its_call_is_in() {
    let place = Place::new();
    let mut run = place.remit(["exec"].into_iter().chain(place.workdir())).open_input().spawn();
    for n in 1..=3 {
        run.write("{\"id\": \"c\", \"name\": \"read_file_in_workdir\", \"arguments\": {\"path\": \"note.txt\"}}\n");
        run.until("a result", |run| run.stdout().lines().count() == n);
    }
    run.stdin = None;
    assert_eq!(run.finish().ended(0).stdout.lines().count(), 3);
}

#[test]
fn the_limits_of_flags_are_the_limits_of_calls() {
    let place = Place::new();
    let flags = place.workdir();
    place.file("work/long.txt", "0123456789".repeat(100));
    let call = r#"{"id": "1", "name": "read_file_in_workdir", "arguments": {"path": "long.txt"}}"#;
    let run = |limit: [&str; 2]| {
        let args = ["exec"].into_iter().chain(flags).chain(limit);
        place.remit(args).input(call).run().ended(0).json().remove(0)
    };
    let cut = run(["--exec-max-output-bytes", "100"]);
    let text: String = cut["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|content| content["text"].as_str().unwrap())
        .collect();
    assert!(text.len() <= 100);
    assert_eq!(cut["truncated"]["omitted_bytes"], 1000 - text.len());
    let refused = run(["--exec-max-args-bytes", "10"]);
    assert_eq!(refused["error"]["kind"], "arguments_too_large");
    assert_eq!(refused["error"]["details"]["max_bytes"], 10);
}

#[test]
fn asking_without_a_terminal_is_a_no_at_once() {
    let place = Place::new();
    let flags = place.workdir();
    place.file(
        "calls",
        r#"{"id": "1", "name": "read_file_in_workdir", "arguments": {"path": "note.txt"}}"#,
    );
    let args = ["exec", "calls", "--ask-tool", "read_file_in_workdir"].into_iter().chain(flags);
    for input in [None, Some("y\n".repeat(100))] {
        let remit = place.remit(args.clone().chain(["--fail-on-error"]));
        let remit = match input {
            Some(yes) => remit.input(yes),
            None => remit,
        };
        let output = remit.run().ended(1);
        let error = &output.json()[0]["error"];
        assert_eq!(error["kind"], "unauthorized");
        assert_eq!(error["details"]["reason"], "no_approver");
        assert!(!output.stderr.contains("Allow it?"));
    }
}
