//! On a terminal: a person is asked, a chain is watched, and nothing is left behind.
//!
//! The terminal is made by `script` of util-linux, which every Debian and Ubuntu has.

use crate::support::{Place, Running, json_lines};

const READS: &str = r#"{"text": "I look.", "calls": [{"id": "c1", "name": "read_file_in_workdir", "arguments": {"path": "note.txt"}}]}"#;

/// A script of a model with so many equal calls, one a turn, and an answer.
fn asks(times: usize) -> String {
    format!("{}\n{{\"text\": \"done\"}}\n", vec![READS; times].join("\n"))
}

/// The width of the terminal.
const COLUMNS: usize = 120;

/// Starts a line of a shell on a terminal of its own; `None` where none can be made.
fn shell(place: &Place, line: &str) -> Option<Running> {
    if !std::path::Path::new("/usr/bin/script").exists() {
        eprintln!("SKIPPED: there is no /usr/bin/script to make a terminal with");
        return None;
    }
    let line = format!("stty cols {COLUMNS}; {line}");
    let script = place.program("/usr/bin/script", ["-qefc", &line, "/dev/null"]);
    Some(script.env("TERM", "xterm").env("SHELL", "/bin/sh").open_input().spawn())
}

/// The same for a command line of remit.
fn on_terminal(place: &Place, line: &str) -> Option<Running> {
    shell(place, &format!("exec {} {line}", env!("CARGO_BIN_EXE_remit")))
}

fn agent(place: &Place, flags: &str) -> Option<Running> {
    let workdir = place.workdir().join(" ");
    on_terminal(place, &format!("agent task --replay replies.jsonl {workdir} {flags}"))
}

const ASK: &str = "--ask-tool read_file_in_workdir";
const QUESTION: &str = "for this same call: ";

/// Answers each question in turn; gives all that was on the terminal, with its code.
fn answered(script: &str, answers: &[&str]) -> Option<(String, Option<i32>)> {
    let place = Place::new();
    place.file("replies.jsonl", script);
    let mut run = agent(&place, ASK)?;
    for (n, answer) in answers.iter().enumerate() {
        run.until("a question", |run| run.stdout().matches(QUESTION).count() == n + 1);
        run.write(answer);
    }
    let output = run.finish();
    Some((output.stdout, output.code))
}

/// What stands on the screen at the end: what was drawn and cleared is gone.
fn screen(text: &str) -> String {
    let mut screen = Screen::default();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\u{1b}' {
            screen.put(c);
            continue;
        }
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        match rest.split_at(end + 1) {
            ("[2K", _) => screen.rows[screen.row].clear(),
            ("[1A", _) => screen.row -= 1,
            ("[1B", _) => screen.go_down(),
            (other, _) => panic!("unknown escape {other:?} in {text:?}"),
        }
        rest = &rest[end + 1..];
    }
    let rows = screen.rows.iter().map(|row| row.iter().collect::<String>());
    rows.map(|row| format!("{}\n", row.trim_end())).collect()
}

/// A terminal of [`COLUMNS`] columns; a row that is full goes on in the next.
struct Screen {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Default for Screen {
    fn default() -> Self {
        Self { rows: vec![Vec::new()], row: 0, column: 0 }
    }
}

impl Screen {
    fn go_down(&mut self) {
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(Vec::new());
        }
    }

    fn put(&mut self, c: char) {
        match c {
            '\n' => self.go_down(),
            '\r' => self.column = 0,
            c => {
                if self.column == COLUMNS {
                    self.go_down();
                    self.column = 0;
                }
                let row = &mut self.rows[self.row];
                row.resize(row.len().max(self.column + 1), ' ');
                row[self.column] = c;
                self.column += 1;
            }
        }
    }
}

#[test]
fn a_person_says_yes_or_no_or_always() {
    let Some((seen, code)) = answered(&asks(1), &["y\n"]) else { return };
    assert_eq!(code, Some(0), "{seen}");
    assert!(
        seen.contains("The model asks for read_file_in_workdir\r\n  {\"path\":\"note.txt\"}"),
        "{seen}"
    );
    assert!(screen(&seen).contains("\n✓ read_file_in_workdir  "), "{seen}");

    let denied = r#"{"text": "done", "expect": {"last_tool_is_error": true}}"#;
    let (seen, code) = answered(&format!("{READS}\n{denied}"), &["n\n"]).unwrap();
    assert_eq!(code, Some(0), "{seen}");
    assert!(screen(&seen).contains("\n✗ read_file_in_workdir  "), "{seen}");

    let (seen, code) = answered(&asks(2), &["y\n", "YES\n"]).unwrap();
    assert_eq!((code, seen.matches("The model asks").count()), (Some(0), 2), "{seen}");
    let (seen, code) = answered(&asks(2), &["a\n"]).unwrap();
    assert_eq!((code, seen.matches("The model asks").count()), (Some(0), 1), "{seen}");
    let (seen, code) = answered(&asks(1), &["what?\n", "\n", "y\n"]).unwrap();
    assert_eq!((code, seen.matches("The model asks").count()), (Some(0), 3), "{seen}");
}

#[test]
fn the_end_of_the_input_is_a_no() {
    let denied = r#"{"text": "done", "expect": {"last_tool_is_error": true}}"#;
    let Some((seen, code)) = answered(&format!("{READS}\n{denied}"), &["\u{4}"]) else { return };
    assert_eq!(code, Some(0), "{seen}");
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let place = Place::new();
    place.file(
        "calls.jsonl",
        "{\"name\": \"read_file_in_workdir\", \"arguments\": {\"path\": \"note.txt\"}}\n",
    );
    let workdir = place.workdir().join(" ");
    // The shell waits, so that the line is typed before the command begins.
    let line = format!("exec {workdir} {ASK} calls.jsonl");
    let line = format!("echo ready; sleep 1; {} {line}", env!("CARGO_BIN_EXE_remit"));
    let Some(mut run) = shell(&place, &line) else { return };
    run.until("the shell", |run| run.stdout().contains("ready"));
    run.write("y\n");
    run.until("the question", |run| run.stdout().contains(QUESTION));
    run.write("n\n");
    let output = run.finish().ended(0);
    let told = "unauthorized: A person was asked";
    assert!(output.stdout.contains(told), "{}", output.stdout);
}

#[test]
fn results_are_words_on_a_terminal_and_json_on_request() {
    let place = Place::new();
    let call = r#"{"id": "c1", "name": "read_file_in_workdir", "arguments": {"path": "note.txt"}}"#;
    place.file("calls.jsonl", format!("{call}\n{{\"name\": \"nope\"}}\n"));
    let workdir = place.workdir().join(" ");
    let line = format!("exec {workdir} calls.jsonl");
    let Some(run) = on_terminal(&place, &line) else { return };
    let seen = run.finish().ended(0).stdout;
    let [read, refused] = seen.lines().collect::<Vec<_>>()[..] else { panic!("{seen}") };
    assert!(read.starts_with("✓ c1 ") && read.contains(" ms  "), "{read}");
    assert!(refused.starts_with("✗ ") && refused.contains("unknown_tool: "), "{refused}");
    let run = on_terminal(&place, &format!("{line} --json")).unwrap();
    let results = json_lines(&run.finish().ended(0).stdout.replace('\r', ""));
    assert_eq!(results[0]["call_id"], "c1");
}

#[test]
fn answers_and_calls_do_not_share_a_terminal() {
    let place = Place::new();
    let workdir = place.workdir().join(" ");
    let Some(run) = on_terminal(&place, &format!("exec {workdir} {ASK}")) else { return };
    let output = run.finish().ended(2);
    assert!(output.stdout.contains("--ask-tool: answers are typed on the terminal"), "{output:?}");
}

#[test]
fn an_interrupt_while_a_person_is_asked_ends_cleanly() {
    let place = Place::new();
    place.file("replies.jsonl", asks(1));
    let Some(mut run) = agent(&place, ASK) else { return };
    run.until("the question", |run| run.stdout().contains(QUESTION));
    run.write("\u{3}");
    let output = run.finish().ended(130);
    assert!(output.stdout.contains("\r\nremit: stopping;"), "{}", output.stdout);
    assert!(output.stdout.ends_with("I look.\r\nremit: stopped\r\n"), "{}", output.stdout);
}

#[test]
fn the_timeline_leaves_a_line_for_each_call_and_no_garbage() {
    let place = Place::new();
    let two = READS.replace("]}", r#", {"id": "c2", "name": "nope", "arguments": {}}]}"#);
    place.file("replies.jsonl", format!("{two}\n{{\"text\": \"done\"}}\n"));
    let Some(run) = agent(&place, "") else { return };
    let seen = run.finish().ended(0).stdout;
    let screen = screen(&seen);
    let mut lines: Vec<&str> = screen.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.pop(), Some("done"), "{seen:?}");
    lines.sort_unstable();
    let [ok, refused] = lines[..] else { panic!("{lines:?} of {seen:?}") };
    assert!(ok.starts_with("✓ read_file_in_workdir  ") && ok.ends_with(" ms, 7 bytes"), "{ok}");
    assert!(refused.starts_with("✗ nope  ") && refused.contains("unknown_tool"), "{refused}");
    assert!(seen.contains("turn 1: asking the model"), "{seen}");
}

#[test]
fn events_on_a_terminal_are_all_there_is() {
    let place = Place::new();
    place.file("replies.jsonl", asks(1));
    let Some(run) = agent(&place, "--json") else { return };
    let seen = run.finish().ended(0).stdout;
    let events = json_lines(&seen.replace('\r', ""));
    assert_eq!(events.last().unwrap()["event"], "outcome");
}

#[test]
fn what_a_model_writes_can_not_repaint_the_terminal() {
    let place = Place::new();
    let call = r#"{"id": "c", "name": "x\u001b[2Jy", "arguments": {"a": "\u001b]0;t\u0007"}}"#;
    place.file(
        "replies.jsonl",
        format!("{{\"calls\": [{call}]}}\n{{\"text\": \"do\\u001b[2Jne\"}}\n"),
    );
    let Some(run) = agent(&place, "") else { return };
    let seen = run.finish().ended(0).stdout;
    assert!(!seen.contains("\u{1b}[2J") && !seen.contains("\u{1b}]0"), "{seen:?}");
    assert!(seen.contains("do\\u{1b}[2Jne"), "{seen:?}");
}

/// A command whose output comes in two parts.
const RUNS: &str =
    r#"{"op": "execute_bash", "command": "echo first; sleep 3; printf 'second \\33[2J'"}"#;

/// A place with sessions allowed.
fn place_with_sessions() -> Place {
    let place = Place::new();
    place.file(
        "remit.toml",
        "[sandbox]\nenabled = true\n[tools]\nexecute = true\nallow = ['sandbox']\n",
    );
    let calls = format!(r#""calls": [{{"id": "c1", "name": "sandbox", "arguments": {RUNS}}}]"#);
    place.file("replies.jsonl", format!("{{\"text\": \"\", {calls}}}\n{{\"text\": \"done\"}}\n"));
    let call = format!(r#"{{"id": "c1", "name": "sandbox", "arguments": {RUNS}}}"#);
    place.file("calls.jsonl", call + "\n");
    place
}

#[test]
fn output_is_seen_while_the_code_runs() {
    for line in [
        "agent task --replay replies.jsonl --config remit.toml",
        "exec --config remit.toml calls.jsonl",
    ] {
        let place = place_with_sessions();
        let Some(mut run) = on_terminal(&place, line) else { return };
        run.until("the first line", |run| run.stdout().contains("  │ first"));
        assert!(!run.stdout().contains("second"), "{}", run.stdout());
        let output = run.finish().ended(0).stdout;
        let (first, second) = (output.find("│ first").unwrap(), output.find("│ second").unwrap());
        let end = output.find("✓ ").unwrap();
        assert!(first < second && second < end, "{output}");
        assert!(output.contains(r"second \u{1b}[2J"), "{output}");
    }
}

#[test]
fn output_of_code_is_not_shown_where_nobody_watches() {
    let place = place_with_sessions();
    let quiet = place.remit(["exec", "--config", "remit.toml", "calls.jsonl"]).run().ended(0);
    assert_eq!(quiet.stderr, "");
    assert_eq!(quiet.json()[0]["content"][0]["json"]["success"], true);
    let line = "exec --json --config remit.toml calls.jsonl";
    let Some(run) = on_terminal(&place, line) else { return };
    let seen = run.finish().ended(0).stdout;
    assert_eq!(json_lines(&seen.replace('\r', "")).len(), 1, "{seen}");
}
