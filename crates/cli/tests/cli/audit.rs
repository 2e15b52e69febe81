//! `--audit` and `remit audit verify`.

use crate::support::{Output, Place};

const CALLS: &str = r#"{"id": "a", "name": "read_file_in_workdir", "arguments": {"path": "note.txt"}}
{"id": "b", "name": "nope", "arguments": {"password": "hunter2"}}
"#;

fn executed(place: &Place, trail: &str) -> Output {
    let args = ["exec", "--audit", trail].into_iter().chain(place.workdir());
    place.remit(args).input(CALLS).run()
}

#[test]
fn every_decision_is_a_line_and_the_trail_is_whole() {
    let place = Place::new();
    executed(&place, "trail").ended(0);
    let once = place.read("trail");
    assert_eq!(once.lines().count(), 3, "admitted, answered, refused: {once}");
    assert!(!once.contains("hunter2") && !once.contains("a note"), "{once}");
    executed(&place, "trail").ended(0);
    assert!(place.read("trail").starts_with(&once), "a second run goes on where the first ended");
    let output = place.remit(["audit", "verify", "trail"]).run().ended(0);
    assert!(output.stdout.starts_with("trail: 6 lines, whole; head "), "{}", output.stdout);
    assert_eq!(output.stderr, "");
}

#[test]
fn the_first_broken_line_is_named_and_nothing_is_added_to_it() {
    let place = Place::new();
    executed(&place, "trail").ended(0);
    let whole = place.read("trail");
    let check = |broken: String, problem: &str| {
        place.file("broken", &broken);
        let output = place.remit(["audit", "verify", "broken"]).run().ended(1);
        assert_eq!(output.stdout, "");
        assert!(output.stderr.contains(problem), "{}", output.stderr);
        let refused = executed(&place, "broken").ended(2);
        assert!(refused.stderr.contains("--audit") && refused.stderr.contains(problem));
        assert_eq!(refused.stdout, "");
        assert_eq!(place.read("broken"), broken);
    };
    let lines: Vec<&str> = whole.lines().collect();
    check(whole.replacen("\"admitted\"", "\"answered\"", 1), "line 2 does not follow");
    check(format!("{}\n{}\n", lines[0], lines[2]), "line 2 does not follow");
    check(format!("{}\n{}\n", lines[1], lines[2]), "line 1 does not follow");
    check(whole.trim_end().to_owned(), "line 3 is not complete");
    check(whole[..whole.len() - 20].to_owned(), "line 3 is not complete");
    check(format!("{whole}hello\n"), "line 4 is no audit record");
}

#[test]
fn a_trail_has_one_writer() {
    let place = Place::new();
    let args = ["exec", "--audit", "trail"].into_iter().chain(place.workdir());
    let mut first = place.remit(args).open_input().spawn();
    first.write(CALLS);
    first.until("the results", |run| run.stdout().lines().count() == 2);
    let second = executed(&place, "trail").ended(2);
    assert!(second.stderr.contains("--audit") && second.stderr.contains("in use"));
    assert_eq!(second.stdout, "");
    first.stdin = None;
    first.finish().ended(0);
    place.remit(["audit", "verify", "trail"]).run().ended(0);
}

#[test]
fn a_trail_that_can_not_be_written_stops_execution() {
    let place = Place::new();
    // No file may grow over a block; the signal that says so is ignored, so that writing fails instead.
    let limited = r#"trap '' XFSZ; ulimit -f 1; exec "$@""#;
    let args = ["-c", limited, "sh", env!("CARGO_BIN_EXE_remit"), "exec", "--audit", "trail"];
    let args = args.into_iter().chain(place.workdir());
    let output = place.program("/bin/sh", args).input(CALLS.repeat(10)).run().ended(1);
    assert!(output.stderr.contains("nothing is executed any more"), "{}", output.stderr);
    // A result is printed only after it was written down.
    let answered = place.read("trail").matches("\"answered\"").count();
    assert!(output.stdout.lines().count() <= answered, "{}", output.stdout);
    let broken = place.remit(["audit", "verify", "trail"]).run().ended(1);
    assert!(broken.stderr.contains("not complete"), "{}", broken.stderr);
}

#[test]
fn a_device_is_no_trail() {
    let place = Place::new();
    for device in ["/dev/null", "/dev/zero", "/dev/full"] {
        let output = executed(&place, device).ended(2);
        assert!(output.stderr.contains("--audit") && output.stderr.contains("regular file"));
        assert_eq!(output.stdout, "");
    }
    let output = place.remit(["audit", "verify", "/dev/zero"]).run().ended(1);
    assert!(output.stderr.contains("line 1"), "{}", output.stderr);
}
