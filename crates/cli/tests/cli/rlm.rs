//! `remit rlm` and `remit report`: from a question to an answer and a page, with a program as the model.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{ModelServer, RecordedRequest, Step};

use crate::support::{Place, Remit};

fn python(code: &str) -> String {
    format!("```python\n{code}\n```")
}

/// Plays `root`, which looks, asks `leaf` and answers; and `leaf`, which shouts.
fn play(request: &RecordedRequest) -> Step {
    let body = request.json();
    let messages = body["messages"].as_array().unwrap();
    let last = messages.last().unwrap()["content"].as_str().unwrap().to_owned();
    let reply = match (body["model"].as_str().unwrap(), messages.len()) {
        ("leaf", _) => last.to_uppercase(),
        (_, 2) => {
            python("words = context.split()\nfound = llm_query_batched(words[:2])\nprint(found)")
        }
        _ => "FINAL_VAR(found)".to_owned(),
    };
    Step::openai_reply(&reply, 10, 5)
}

fn rlm(place: &Place, server: &ModelServer, flags: &[&str]) -> Remit {
    let url = server.url();
    let args = ["rlm", "Which?", "--model", "root", "--leaf-model", "leaf", "--model-url", &url];
    place.remit(args.into_iter().chain(flags.iter().copied()))
}

fn model_of(request: &RecordedRequest) -> String {
    request.json()["model"].as_str().unwrap().to_owned()
}

#[test]
fn a_question_about_a_file_is_answered_and_its_steps_are_a_page() {
    let (place, server) = (Place::new(), ModelServer::answering(play).unwrap());
    place.file("text.txt", "one two three\n");
    let flags = ["--context", "text.txt", "--trajectory", "t.jsonl"];
    let output = rlm(&place, &server, &flags).run().ended(0);
    assert_eq!(output.stdout, "[\n  \"ONE\",\n  \"TWO\"\n]\n");
    let models: Vec<_> = server.requests().iter().map(model_of).collect();
    assert_eq!(models.iter().filter(|name| *name == "leaf").count(), 2);
    let first = server.requests()[0].json().to_string();
    assert!(!first.contains("one two"), "the text goes to no model as a whole");
    assert!(first.contains("str of length 14"), "{first}");
    let steps = place.read("t.jsonl");
    assert!(steps.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    place.remit(["report", "t.jsonl", "-o", "report.html"]).run().ended(0);
    let page = place.read("report.html");
    assert!(page.contains("final_var") && page.contains("FINAL_VAR(found)"));
    place.remit(["report", "text.txt", "-o", "no.html"]).run().ended(2);
}

#[test]
fn standard_input_can_be_the_text_and_steps_can_be_printed() {
    let (place, server) = (Place::new(), ModelServer::answering(play).unwrap());
    let output = rlm(&place, &server, &["--context", "-", "--json"]).input("a b c").run().ended(0);
    let steps = output.json();
    let kinds: Vec<_> = steps.iter().map(|step| step["event"].as_str().unwrap()).collect();
    assert_eq!(kinds.first(), Some(&"begin"));
    assert_eq!(steps.last().unwrap()["answer"], json!(["A", "B"]));
    assert_eq!(kinds.iter().filter(|kind| **kind == "call").count(), 2);
}

#[test]
fn a_query_that_was_killed_goes_on_without_asking_again() {
    let place = Place::new();
    place.file("text.txt", "one two three\n");
    let dying = ModelServer::answering(|request| match request.json()["messages"].as_array() {
        Some(messages) if messages.len() > 2 => Step::hang(),
        _ => play(request),
    });
    let dying = dying.unwrap();
    let flags = ["--context", "text.txt", "--trajectory", "t.jsonl"];
    let mut running = rlm(&place, &dying, &flags).spawn();
    running.until("the second turn", |_| dying.requests().len() == 4);
    running.signal(rustix::process::Signal::KILL);
    drop(running);
    let server = ModelServer::answering(play).unwrap();
    let output = rlm(&place, &server, &["--context", "text.txt", "--resume", "t.jsonl"]).run();
    assert!(output.ended(0).stdout.contains("TWO"));
    assert_eq!(server.requests().len(), 1, "only the last turn was asked");
}

#[test]
fn an_interrupt_ends_it_within_moments() {
    let place = Place::new();
    let server = ModelServer::answering(|_| {
        Step::openai_reply(&python("import time; time.sleep(25)"), 1, 1)
    });
    let server = server.unwrap();
    let mut running = rlm(&place, &server, &["--trajectory", "t.jsonl"]).spawn();
    running.until("a request", |_| !server.requests().is_empty());
    std::thread::sleep(Duration::from_millis(300));
    let since = Instant::now();
    running.signal(rustix::process::Signal::INT);
    running.finish().ended(130);
    assert!(since.elapsed() < Duration::from_secs(3), "{:?}", since.elapsed());
    assert!(place.read("t.jsonl").contains("\"stop\":\"cancelled\""));
}

#[test]
fn no_answer_is_said_and_is_a_failure() {
    let place = Place::new();
    let server = ModelServer::answering(|_| Step::openai_reply("I think so.", 1, 1)).unwrap();
    let output = rlm(&place, &server, &[]).run().ended(1);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("without an answer (no_progress)"), "{}", output.stderr);
    let server = ModelServer::answering(|_| Step::error(400, "no")).unwrap();
    let output = rlm(&place, &server, &[]).run().ended(1);
    assert!(output.stderr.contains("(model_error)") && output.stderr.contains("400"));
}

#[test]
fn mistakes_are_found_before_a_model_is_asked() {
    let (place, server) = (Place::new(), ModelServer::answering(play).unwrap());
    for (flags, part) in [
        (&["--context", "none.txt"][..], "--context: none.txt"),
        (&["--context", "."], "is no regular file"),
        (&["--max-depth", "11"], "--max-depth"),
        (&["--token-budget", "0"], "--token-budget"),
        (&["--system", "x"], "query.system_prompt"),
        (&["--allow-tool", "lookup"], "--execute-tools"),
        (&["--resume", "none.jsonl"], "none.jsonl"),
    ] {
        let output = rlm(&place, &server, flags).run().ended(2);
        assert!(output.stderr.contains(part), "{flags:?}: {}", output.stderr);
    }
    let output = place.remit(["rlm", "?"]).run().ended(2);
    assert!(output.stderr.contains("rlm needs a model"), "{}", output.stderr);
    assert!(server.requests().is_empty());
}

#[test]
fn code_calls_allowed_tools_and_the_trail_has_them() {
    let place = Place::new();
    let code = "r = [tools.read_file_in_workdir(path='note.txt')]\ntry: tools.list_dir_in_workdir()\nexcept AttributeError as e: r.append('not offered')\nFINAL(r)";
    let server = ModelServer::answering(move |_| Step::openai_reply(&python(code), 1, 1)).unwrap();
    let mut flags = vec!["--audit", "trail.jsonl"];
    flags.extend(place.workdir());
    let output = rlm(&place, &server, &flags).run().ended(0);
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(answer, json!(["a note\n", "not offered"]));
    let trail = place.read("trail.jsonl");
    assert!(trail.contains("read_file_in_workdir") && !trail.contains("list_dir"), "{trail}");
}

#[test]
fn a_model_asks_recursive_queries_as_a_tool() {
    let place = Place::new();
    place.file("remit.toml", "[sandbox]\nenabled = true\n[tools]\nexecute = true\n");
    let server =
        ModelServer::answering(|_| Step::openai_reply(&python("FINAL(len(context))"), 7, 3));
    let server = server.unwrap();
    let call = json!({"id": "1", "name": "sandbox", "arguments": {
        "op": "recursive_query", "prompt": "How long?", "context": "abcd",
    }});
    let url = server.url();
    let remit = place.remit(["exec", "--config", "remit.toml", "--allow-tool", "sandbox"]);
    let remit = remit.env("REMIT_MODEL_NAME", "m").env("REMIT_MODEL_URL", &url);
    let results = remit.input(format!("{call}\n")).run().ended(0).json();
    let answer = &results[0]["content"][0]["json"];
    assert_eq!([&answer["answer"], &answer["input_tokens"]], [&json!(4), &json!(7)]);
}

/// What looks like a key, and the key of the model, which looks like none.
fn secrets() -> [String; 2] {
    [format!("ghp_{}", "aB3".repeat(12)), "plain-operator-word-0042".to_owned()]
}

#[test]
fn no_secret_reaches_a_trajectory_its_continuation_or_its_page() {
    let [token, key] = secrets();
    let (place, said) = (Place::new(), [token.clone(), key.clone()]);
    place.file("text.txt", format!("one {token} two {key}\n"));
    let server = ModelServer::answering(move |request| {
        let body = request.json();
        let messages = body["messages"].as_array().unwrap();
        let last = messages.last().unwrap()["content"].as_str().unwrap();
        let [token, key] = &said;
        let reply = match (body["model"].as_str().unwrap(), messages.len()) {
            ("leaf", _) => format!("You said {last}, and password = hunter2hunter2"),
            (_, 2) => python(&format!(
                "# {token}\nprint(context, '{key}')\nr = llm_query(context[:60])\nprint(r)"
            )),
            _ => python("FINAL({'password': 'hunter2hunter2', 'text': context})"),
        };
        Step::openai_reply(&reply, 10, 5)
    });
    let server = server.unwrap();
    let run = |flag: &str| {
        let flags = ["--context", "text.txt", flag, "t.jsonl"];
        let output = rlm(&place, &server, &flags).env("OPENAI_API_KEY", &key).run().ended(0);
        assert!(output.stdout.contains(&token), "the answer itself is whole");
        place.remit(["report", "t.jsonl", "-o", "report.html"]).run().ended(0);
        for file in ["t.jsonl", "report.html"] {
            let text = place.read(file);
            assert!(text.contains("final") && text.contains("redacted"), "{file}");
            for secret in [token.as_str(), &key, "hunter2hunter2"] {
                assert!(!text.contains(secret), "{secret} in {file}: {text}");
            }
        }
    };
    run("--trajectory");
    let asked = server.requests().len();
    run("--resume");
    assert!(server.requests().len() > asked, "a reply that was changed is not used again");
}
