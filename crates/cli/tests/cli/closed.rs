//! A standard output that nobody reads: a quiet end.

use std::os::fd::OwnedFd;

use crate::support::{Place, repository};

/// A pipe whose reading end is closed.
fn closed() -> OwnedFd {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn every_command_ends_quietly() {
    let place = Place::new();
    let flags = place.workdir().join(" ");
    place.file("r.jsonl", "{\"text\": \"hi\"}\n");
    let (calls, script) =
        (repository("data/calls_smoke.jsonl"), repository("data/agent_smoke.jsonl"));
    place.remit(["exec", "--audit", "trail"].into_iter().chain(place.workdir())).input("").run();
    for command in [
        format!("exec {flags} {calls}"),
        format!("exec {flags} --jobs 4 {calls}"),
        format!("agent task --replay {script} --json {flags}"),
        format!("agent task --replay {script} --json"),
        format!("agent task --replay {script}"),
        "agent task --replay r.jsonl".to_owned(),
        "tools --exec-workdir work".to_owned(),
        "tools --exec-workdir work --json".to_owned(),
        "tools --exec-workdir work --format mcp".to_owned(),
        "config show".to_owned(),
        "config show --json".to_owned(),
        "config schema".to_owned(),
        "completions bash".to_owned(),
        "man".to_owned(),
        "audit verify trail".to_owned(),
        "--help".to_owned(),
        "--version".to_owned(),
    ] {
        let output = place.remit(command.split_whitespace()).stdout(closed()).start().finish();
        assert_eq!(output.code, Some(0), "{command}: {}", output.stderr);
        assert!(!output.stderr.contains("panic"), "{command}: {}", output.stderr);
        assert!(!output.stderr.contains("roken pipe"), "{command}: {}", output.stderr);
    }
}

#[test]
fn a_reader_that_stops_in_the_middle_ends_it() {
    let place = Place::new();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let remit =
        place.remit(["exec"].into_iter().chain(place.workdir())).open_input().stdout(writer);
    let mut run = remit.start();
    let call = "{\"name\": \"read_file_in_workdir\", \"arguments\": {\"path\": \"note.txt\"}}\n";
    run.write(call);
    std::io::Read::read_exact(&mut reader, &mut [0]).unwrap();
    drop(reader);
    // Its standard input stays open: it ends because nobody reads.
    run.write(call);
    let output = run.finish().ended(0);
    assert_eq!(output.stderr, "");
}
