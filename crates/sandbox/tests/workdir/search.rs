//! `search_in_workdir`: what is found, what is passed over, and where it stops.

use std::{fs::File, io::Write};

use serde_json::{Value, json};

use crate::bench::{BOTH, Bench, SECRET, json as value, refusal};

fn found(bench: &Bench, args: Value) -> Value {
    let output = bench.search(args).unwrap();
    assert!(output.len_bytes() <= bench.limits.max_output());
    value(&output).clone()
}

/// `path:line:column` of each match.
fn places(found: &Value) -> Vec<String> {
    let place =
        |m: &Value| format!("{}:{}:{}", m["path"].as_str().unwrap(), m["line"], m["column"]);
    found["matches"].as_array().unwrap().iter().map(place).collect()
}

#[test]
fn texts_and_patterns_are_found_in_a_stable_order() {
    for by in BOTH {
        let bench = Bench::with(by);
        bench.write("b.txt", "one\ntwo a.c\r\n\nfour");
        bench.write("a/deep.txt", "é abc\n");
        bench.write("a.txt", "ABC a.c");
        let check = |args: Value, expected: &[&str]| {
            let found = found(&bench, args.clone());
            assert_eq!(places(&found), expected, "{args}");
            assert_eq!(found["is_complete"], true);
        };
        check(json!({"pattern": "a.c"}), &["a.txt:1:5", "b.txt:2:5"]);
        let in_order = ["a/deep.txt:1:4", "a.txt:1:5", "b.txt:2:5"];
        check(json!({"pattern": "a.c", "regex": true}), &in_order);
        check(
            json!({"pattern": "abc", "case_insensitive": true}),
            &["a/deep.txt:1:4", "a.txt:1:1"],
        );
        check(json!({"pattern": "c$", "regex": true, "path": "b.txt"}), &["b.txt:2:7"]);
        check(json!({"pattern": "c", "path": "./a/"}), &["a/deep.txt:1:6"]);
        check(json!({"pattern": "c", "glob": "a/**"}), &["a/deep.txt:1:6"]);
        check(
            json!({"pattern": "(?i)abc", "regex": true, "glob": "!b*"}),
            &["a/deep.txt:1:4", "a.txt:1:1"],
        );
        check(json!({"pattern": "nowhere"}), &[]);
    }
}

#[test]
fn ignore_files_are_honoured_and_counted() {
    let bench = Bench::new();
    bench.write(".gitignore", "target/\n*.log\n!keep.log\n# comment\n/top-only\n");
    bench.write(".git/config", "needle");
    bench.write("target/out.txt", "needle");
    bench.write("a.log", "needle");
    bench.write("keep.log", "needle");
    bench.write("top-only", "needle");
    bench.write("sub/top-only", "needle");
    bench.write("sub/.gitignore", "!a.log\nprivate\n");
    bench.write("sub/a.log", "needle");
    bench.write("sub/private/x", "needle");
    bench.write("sub/.ignore", "by-ignore\n");
    bench.write("sub/by-ignore", "needle");
    bench.write("zoo/a.log", "needle");
    let result = found(&bench, json!({"pattern": "needle"}));
    assert_eq!(places(&result), ["keep.log:1:1", "sub/a.log:1:1", "sub/top-only:1:1"]);
    assert_eq!(result["skipped_ignored"], 7);
    assert_eq!(result["is_complete"], true);
    // The rules above count for a path below; a path that is asked for by name is searched.
    assert_eq!(places(&found(&bench, json!({"pattern": "needle", "path": "zoo"}))), [""; 0]);
    let by_name = found(&bench, json!({"pattern": "needle", "path": "target"}));
    assert_eq!(places(&by_name), ["target/out.txt:1:1"]);
}

#[test]
fn an_ignore_file_that_links_out_has_no_effect() {
    let bench = Bench::new();
    std::fs::write(bench.beside("outside/rules"), "*\n").unwrap();
    bench.link("../outside/rules", ".gitignore");
    bench.write("file", "needle");
    assert_eq!(places(&found(&bench, json!({"pattern": "needle"}))), ["file:1:1"]);
}

#[test]
fn links_are_passed_over_and_binary_files_are_counted() {
    let bench = Bench::new();
    bench.link("../outside", "dir");
    bench.link("../outside/secret.txt", "file");
    bench.write("binary", b"needle\0");
    let mut late = vec![b'\n'; 9000];
    late.extend(b"\0needle");
    bench.write("late-nul", &late);
    let result = found(&bench, json!({"pattern": "needle"}));
    assert_eq!(places(&result), ["late-nul:9001:2"]);
    assert_eq!(
        (&result["skipped_binary"], &result["files_searched"], &result["skipped_special"]),
        (&json!(1), &json!(1), &json!(2))
    );
    assert!(!found(&bench, json!({"pattern": SECRET})).to_string().contains("secret.txt"));
}

#[test]
fn long_lines_are_clipped_around_the_match_on_character_borders() {
    let bench = Bench::new();
    bench.write("long", format!("{}needle{}", "é".repeat(4000), "ü".repeat(4000)));
    let result = found(&bench, json!({"pattern": "needle"}));
    let line = &result["matches"][0];
    assert_eq!((&line["column"], &line["is_clipped"]), (&json!(8001), &json!(true)));
    let text = line["text"].as_str().unwrap();
    assert!(text.len() <= 500 && text.contains("éneedleü") && !text.contains('\u{fffd}'), "{text}");
    assert_eq!(line.get("is_lossy"), None);
}

#[test]
fn of_a_line_without_end_the_beginning_is_searched_and_that_is_said() {
    let bench = Bench::new();
    let mut file = File::create(bench.path("huge")).unwrap();
    let chunk = vec![b'a'; 1 << 20];
    for _ in 0..8 {
        file.write_all(&chunk).unwrap();
    }
    file.write_all(b"needle\nneedle\n").unwrap();
    let result = found(&bench, json!({"pattern": "needle"}));
    assert_eq!(places(&result), ["huge:2:1"]);
    assert_eq!(result["incomplete_by"], json!(["long_lines"]));
}

#[test]
fn what_is_not_utf8_is_searched_and_marked() {
    let bench = Bench::new();
    bench.write("latin1", b"caf\xe9 needle\n");
    let result = found(&bench, json!({"pattern": "needle"}));
    assert_eq!(result["matches"][0]["text"], "caf\u{fffd} needle");
    assert_eq!(result["matches"][0]["is_lossy"], true);
}

#[test]
fn matches_are_bounded_by_number_and_by_size() {
    let bench = Bench::new().with_max_output(4000);
    bench.write("a", "needle\n".repeat(10));
    bench.write("b", format!("{}\n", "needle ".repeat(60)).repeat(100));
    let all = found(&bench, json!({"pattern": "needle", "path": "a", "max_matches": 10}));
    assert_eq!((places(&all).len(), &all["is_complete"]), (10, &json!(true)), "exactly as many");
    let few = found(&bench, json!({"pattern": "needle", "path": "a", "max_matches": 9}));
    assert_eq!((places(&few).len(), &few["incomplete_by"]), (9, &json!(["max_matches"])));
    let large = found(&bench, json!({"pattern": "needle", "path": "b"}));
    assert_eq!(large["incomplete_by"], json!(["output_size"]));
    assert!(!places(&large).is_empty());
}

#[test]
fn patterns_that_can_not_be_used_say_why() {
    let bench = Bench::new();
    let check = |args: Value, reason: &str| {
        let message = refusal(bench.search(args));
        assert!(message.contains(reason), "{message}");
    };
    check(json!({"pattern": "(", "regex": true}), "not a regular expression");
    check(json!({"pattern": "(?=x)", "regex": true}), "look-around");
    check(json!({"pattern": "((a{100}){100}){100}", "regex": true}), "too large when compiled");
    check(json!({"pattern": "a\nb"}), "line break");
    check(json!({"pattern": "a", "glob": "a[", }), "glob");
    check(json!({"pattern": "a", "path": "none"}), "no such file");
}

#[test]
fn a_pattern_made_to_burn_time_does_not() {
    let bench = Bench::new();
    bench.write("file", format!("{}!", "a".repeat(200_000)));
    let result = found(&bench, json!({"pattern": "^(a+)+$", "regex": true}));
    assert_eq!(places(&result), [""; 0]);
}

#[test]
fn a_call_that_is_cancelled_in_a_large_file_stops() {
    let bench = Bench::new();
    // Sparse, so quick to make; without a NUL near its beginning, so that it is searched.
    let mut file = File::create(bench.path("large")).unwrap();
    file.write_all(&[b'\n'; 10_000]).unwrap();
    file.set_len(1 << 40).unwrap();
    let outcome = std::thread::scope(|scope| {
        let search = scope.spawn(|| bench.search(json!({"pattern": "needle"})));
        std::thread::sleep(std::time::Duration::from_millis(50));
        bench.cancellation.cancel();
        search.join().unwrap()
    });
    assert_eq!(outcome, Err(tool_core::ToolError::Cancelled));
}
