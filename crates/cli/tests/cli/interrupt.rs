//! Ctrl-C and SIGTERM: once stops cleanly, twice at once.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use testkit::{ModelServer, Step};

use crate::support::{Place, Running, answers, expected};

/// Far below every timeout inside, far above what stopping takes.
const SOON: Duration = Duration::from_secs(10);

/// Interrupts what waits, and gives what it left.
#[track_caller]
fn interrupted(run: Running, signal: Signal) -> crate::support::Output {
    let start = Instant::now();
    run.signal(signal);
    let output = run.finish().ended(130);
    assert!(start.elapsed() < SOON, "it took {:?}", start.elapsed());
    assert!(
        output.stderr.contains("stopping; interrupt again to end at once"),
        "{}",
        output.stderr
    );
    output
}

#[test]
fn exec_that_waits_for_calls_stops_and_keeps_its_results() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = Place::new();
        let args = ["exec", "--audit", "trail"].into_iter().chain(place.workdir());
        let mut run = place.remit(args).open_input().spawn();
        run.write("{\"id\": \"a\", \"name\": \"read_file_in_workdir\", \"arguments\": {\"path\": \"note.txt\"}}\n");
        run.until("the result", |run| run.stdout().contains('\n'));
        let output = interrupted(run, signal);
        assert_eq!(answers(&output.json()), expected(&[("a", "ok")]));
        place.remit(["audit", "verify", "trail"]).run().ended(0);
    }
}

/// A model that asks for a file, and then does not answer.
fn hanging_model() -> ModelServer {
    let call = json!({"id": "c1", "type": "function", "function": {
        "name": "read_file_in_workdir", "arguments": "{\"path\": \"note.txt\"}",
    }});
    let message = json!({"role": "assistant", "content": "I look.", "tool_calls": [call]});
    let asks =
        json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let never = Step::json(&json!({})).delay(Duration::from_secs(600));
    ModelServer::start([Step::json(&asks), never]).unwrap()
}

#[test]
fn agent_that_waits_for_a_model_stops_and_prints_what_there_is() {
    let check = |json: Option<&str>| {
        let (place, server) = (Place::new(), hanging_model());
        let url = server.url();
        let agent = ["agent", "task", "--model", "m", "--model-url", &url];
        let args = agent.into_iter().chain(place.workdir()).chain(json);
        let mut run = place.remit(args).spawn();
        run.until("the second request", |_| server.requests().len() == 2);
        interrupted(run, Signal::INT)
    };
    let output = check(None);
    assert_eq!(output.stdout, "I look.\n");
    assert!(output.stderr.ends_with("remit: stopped\n"), "{}", output.stderr);

    let events = check(Some("--json")).json();
    let outcome = events.last().unwrap();
    assert_eq!(
        (&outcome["event"], &outcome["stop"]["reason"]),
        (&json!("outcome"), &json!("cancelled"))
    );
}

#[test]
fn agent_that_waits_for_a_program_stops() {
    let place = Place::new();
    place.file("replies.jsonl", r#"{"text": "I ask.", "calls": [{"id": "c1", "name": "f"}]}"#);
    let args = ["agent", "task", "--replay", "replies.jsonl", "--results", "-"];
    let mut run = place.remit(args).open_input().spawn();
    run.until("the call", |run| run.stdout().contains("c1"));
    let output = interrupted(run, Signal::INT);
    assert!(output.stdout.ends_with("I ask.\n"), "{}", output.stdout);
}

#[test]
fn a_second_interrupt_ends_at_once_whatever_blocks() {
    let place = Place::new();
    let flags = place.workdir();
    place.file("work/note.txt", "line\n".repeat(10_000));
    let call = "{\"name\": \"read_file_in_workdir\", \"arguments\": {\"path\": \"note.txt\"}}\n";
    place.file("calls.jsonl", call.repeat(20));
    // Nobody reads, so it waits in the middle of a result.
    let (reader, writer) = std::io::pipe().unwrap();
    let remit = place.remit(["exec", "calls.jsonl"].into_iter().chain(flags));
    let mut run = remit.stdout(writer).start();
    let is_full = || rustix::io::ioctl_fionread(&reader).is_ok_and(|bytes| bytes >= 32 * 1024);
    run.until("a full pipe", |_| is_full());
    let start = Instant::now();
    run.signal(Signal::INT);
    run.until("the first", |run| run.stderr().contains("interrupt again to end at once"));
    run.signal(Signal::INT);
    run.finish().ended(130);
    assert!(start.elapsed() < SOON);
}

#[test]
fn a_task_that_does_not_come_can_be_given_up() {
    let place = Place::new();
    place.file("replies.jsonl", r#"{"text": "hi"}"#);
    let run = place.remit(["agent", "--replay", "replies.jsonl"]).open_input().spawn();
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    run.signal(Signal::INT);
    let output = run.finish();
    assert!(start.elapsed() < SOON);
    // Ended by the signal itself, or by the code that stands for it.
    assert!(matches!(output.code, None | Some(130)), "{output:?}");
    assert_eq!(output.stdout, "");
}
