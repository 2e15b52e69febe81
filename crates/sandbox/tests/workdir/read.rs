//! `read_file_in_workdir`: which part of a file comes back, and what is said about the rest.

use std::{
    fs::File,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tool_core::{ByteCount, ErrorKind, ToolError};

use crate::bench::{Bench, refusal, text};

/// The text, and how many bytes the result says are left.
fn part(bench: &Bench, args: Value) -> (String, u64) {
    let output = bench.read(args).unwrap();
    let left = output.truncated.map_or(0, |truncated| truncated.omitted_bytes.0);
    (text(&output).to_owned(), left)
}

#[test]
fn t1_a_character_across_a_read_edge_or_the_cap_stays_whole() {
    let bench = Bench::new();
    for letters in [8_191, 16_383, 65_535 - 2] {
        let content = format!("{}é", "a".repeat(letters));
        bench.write("file", &content);
        assert_eq!(part(&bench, json!({"path": "file"})), (content, 0), "{letters}");
    }
    // Across the cap: the ceiling of 65,536 falls into the é.
    bench.write("file", format!("{}éz", "a".repeat(65_535)));
    assert_eq!(part(&bench, json!({"path": "file"})), ("a".repeat(65_535), 3));
    bench.write("file", format!("{}éz", "a".repeat(8_191)));
    let (read, left) = part(&bench, json!({"path": "file", "limit": 8_192}));
    assert_eq!((read.len(), left), (8_191, 3));
    let rest = part(&bench, json!({"path": "file", "offset": 8_192}));
    assert_eq!(rest, ("éz".to_owned(), 0), "an offset inside a character gives it whole");
}

#[test]
fn t2_a_file_larger_than_the_cap_says_how_much_is_left() {
    let bench = Bench::new().with_max_output(1000);
    bench.write("file", "x".repeat(2500));
    assert_eq!(part(&bench, json!({"path": "file"})), ("x".repeat(1000), 1500));
    assert_eq!(part(&bench, json!({"path": "file", "limit": 5000})).0.len(), 1000);
    assert_eq!(part(&bench, json!({"path": "file", "limit": 10})), ("x".repeat(10), 2490));
    assert_eq!(part(&bench, json!({"path": "file", "offset": 2000})), ("x".repeat(500), 0));
    assert_eq!(part(&bench, json!({"path": "file", "offset": 2500})), (String::new(), 0));
    bench.write("file", "é".repeat(2500));
    for offset in [0, 1, 999, 1001] {
        let output = bench.read(json!({"path": "file", "offset": offset})).unwrap();
        assert!(output.len_bytes() <= ByteCount(1000), "{offset}");
    }
}

#[test]
fn t3_a_path_of_65_characters_is_accepted() {
    let bench = Bench::new();
    let path = format!("{}/{}", "d".repeat(32), "f".repeat(32));
    assert_eq!(path.len(), 65);
    bench.write(&path, "here");
    assert_eq!(part(&bench, json!({"path": path})).0, "here");
    let long = format!("{}end", "directory/".repeat(20));
    bench.write(&long, "there");
    assert_eq!(part(&bench, json!({"path": long})).0, "there");
}

#[test]
fn an_offset_past_the_end_says_the_size() {
    let bench = Bench::new();
    bench.write("file", "12345");
    let message = refusal(bench.read(json!({"path": "file", "offset": 6})));
    assert!(
        message.contains("offset 6 is past the end") && message.contains("5 bytes"),
        "{message}"
    );
    refusal(bench.read(json!({"path": "file", "offset": 9_007_199_254_740_991_u64})));
    bench.write("empty", "");
    assert_eq!(part(&bench, json!({"path": "empty"})), (String::new(), 0));
    refusal(bench.read(json!({"path": "empty", "offset": 1})));
}

#[test]
fn offsets_and_limits_are_integers_however_they_are_written() {
    let bench = Bench::new();
    bench.write("file", "12345");
    assert_eq!(part(&bench, json!({"path": "file", "offset": 1.0, "limit": 3.0})).0, "234");
    for bad in [json!(-1), json!("1"), json!(1.5), json!(1e300)] {
        let error = bench.read(json!({"path": "file", "offset": bad})).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{bad}");
    }
    let error = bench.read(json!({"path": "file", "limit": 0})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
}

#[test]
fn what_is_not_utf8_is_said_and_not_mangled() {
    let bench = Bench::new();
    bench.write("binary", b"text\xff\xfe more");
    let error = bench.read(json!({"path": "binary"})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ExecutionFailed);
    let message = error.for_model();
    insta::assert_snapshot!(message, @r#"The tool failed: "binary": not UTF-8 text: the byte at offset 4 (0xff) belongs to no character; the file has 11 bytes, and only text can be read"#);
    // The text before it can be had, and a character cut short by the end of the file is no text.
    assert_eq!(part(&bench, json!({"path": "binary", "limit": 4})).0, "text");
    bench.write("short", b"a\xe2\x82");
    assert!(refusal(bench.read(json!({"path": "short"}))).contains("offset 1 (0xe2)"));
}

#[test]
fn a_limit_smaller_than_a_character_says_how_much_is_needed() {
    let bench = Bench::new();
    bench.write("file", "😀");
    let message = refusal(bench.read(json!({"path": "file", "limit": 1})));
    assert!(message.contains("at least 4 bytes"), "{message}");
    assert_eq!(part(&bench, json!({"path": "file", "limit": 4})).0, "😀");
}

#[test]
fn a_gigabyte_of_nothing_is_read_quickly_in_part() {
    let bench = Bench::new();
    File::create(bench.path("sparse")).unwrap().set_len(1 << 30).unwrap();
    let start = Instant::now();
    let (read, left) = part(&bench, json!({"path": "sparse", "limit": 100, "offset": 1 << 29}));
    assert_eq!((read.len(), left), (100, (1 << 29) - 100));
    // Microseconds where the part alone is read, and far longer where the rest is.
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn files_that_say_they_are_empty_are_read_to_their_end() {
    let workdir = std::sync::Arc::new(sandbox::Workdir::open("/proc/self").unwrap());
    let read = sandbox::ReadFileInWorkdir::new(workdir).unwrap();
    let bench = Bench::new().with_max_output(200);
    let run = |args| bench.run(&read, read.spec(), args);
    let output = run(json!({"path": "status"})).unwrap();
    assert_eq!(text(&output).len(), 200);
    assert!(output.truncated.is_some(), "there is more");
    let whole = run(json!({"path": "comm"})).unwrap();
    assert!(text(&whole).ends_with('\n') && whole.truncated.is_none());
    assert!(run(json!({"path": "comm", "offset": 5000})).is_err());
}

#[test]
fn a_cancelled_call_stops() {
    let bench = Bench::new();
    bench.write("file", "x");
    bench.cancellation.cancel();
    assert_eq!(bench.read(json!({"path": "file"})), Err(ToolError::Cancelled));
    assert_eq!(bench.list(json!({})), Err(ToolError::Cancelled));
    assert_eq!(bench.search(json!({"pattern": "x"})), Err(ToolError::Cancelled));
    assert_eq!(bench.search(json!({"pattern": "x", "path": "file"})), Err(ToolError::Cancelled));
}

#[test]
fn the_three_specs_are_read_only_and_named() {
    let bench = Bench::new();
    for (spec, name) in [
        (bench.read.spec(), "read_file_in_workdir"),
        (bench.list.spec(), "list_dir_in_workdir"),
        (bench.search.spec(), "search_in_workdir"),
    ] {
        assert_eq!(spec.name().as_str(), name);
        assert!(spec.annotations().is_read_only && !spec.annotations().is_destructive);
        assert_eq!(spec.parameters()["additionalProperties"], false);
    }
}
