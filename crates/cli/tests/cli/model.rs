//! `remit agent` and a model over HTTP: streaming or not, faults, and the key.

use serde_json::{Value, json};
use testkit::{ModelServer, Step};

use crate::support::{Output, Place, Remit};

fn reply(content: &str) -> Value {
    let message = json!({"role": "assistant", "content": content});
    json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
}

fn asks() -> Value {
    let call = json!({"id": "c1", "type": "function", "function": {
        "name": "read_file_in_workdir", "arguments": "{\"path\": \"note.txt\"}",
    }});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
}

fn agent(place: &Place, server: &ModelServer, flags: &[&str]) -> Remit {
    let url = server.url();
    let args = ["agent", "task", "--model", "m", "--model-url", &url];
    place.remit(args.into_iter().chain(place.workdir()).chain(flags.iter().copied()))
}

#[test]
fn results_go_back_and_the_answer_is_printed() {
    let (place, server) = (
        Place::new(),
        ModelServer::start([Step::json(&asks()), Step::json(&reply("A note."))]).unwrap(),
    );
    let flags =
        ["--system", "Be brief.", "--temperature", "0.5", "--seed", "7", "--max-tokens", "99"];
    let output = agent(&place, &server, &flags).run().ended(0);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("A note.\n", ""));
    let [first, second] = &server.requests()[..] else { panic!("two requests") };
    let first = first.json();
    assert_eq!(first["messages"][0], json!({"role": "system", "content": "Be brief."}));
    assert_eq!(first["messages"][1], json!({"role": "user", "content": "task"}));
    assert_eq!((&first["temperature"], &first["seed"]), (&json!(0.5), &json!(7)));
    assert_eq!(first["tools"].as_array().unwrap().len(), 1, "only what may be called is offered");
    assert_ne!(first["stream"], true);
    let result = &second.json()["messages"][3];
    assert_eq!((&result["role"], &result["tool_call_id"]), (&json!("tool"), &json!("c1")));
    assert_eq!(result["content"], "a note\n");
}

#[test]
fn a_reply_in_pieces_is_the_same_reply() {
    let delta =
        |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let call = |index: usize, function: Value| json!({"tool_calls": [{"index": index, "id": "c1", "type": "function", "function": function}]});
    let end =
        |reason: &str| json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]});
    let asks = [
        delta(call(0, json!({"name": "read_file_in_workdir", "arguments": "{\"path\": "}))),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"note.txt\"}"}}]})),
        end("tool_calls"),
    ];
    let says = [delta(json!({"content": "A "})), delta(json!({"content": "note."})), end("stop")];
    let steps = [Step::openai_stream(&asks).in_pieces_of(7), Step::openai_stream(&says)];
    let (place, server) = (Place::new(), ModelServer::start(steps).unwrap());
    let output =
        agent(&place, &server, &["--json"]).env("REMIT_MODEL_STREAM", "true").run().ended(0);
    let events = output.json();
    assert_eq!(events.last().unwrap()["answer"], "A note.");
    let texts = events.iter().filter(|event| event["event"] == "text_delta").count();
    assert_eq!(texts, 2);
    assert_eq!(server.requests()[0].json()["stream"], true);
}

#[test]
fn faults_that_pass_are_tried_again() {
    let steps = [
        Step::error(429, "slow down").header("retry-after", "0"),
        Step::error(500, "oops").header("retry-after", "0"),
        Step::json(&reply("There.")),
    ];
    let (place, server) = (Place::new(), ModelServer::start(steps).unwrap());
    let output = agent(&place, &server, &[]).run().ended(0);
    assert_eq!(output.stdout, "There.\n");
    assert_eq!(server.requests().len(), 3);
    assert!(
        output.stderr.contains("WARN a model request failed, trying again"),
        "{}",
        output.stderr
    );
    assert!(!output.stderr.contains('\u{1b}'), "no colours in a pipe: {}", output.stderr);
}

/// Runs against a step that can't be mended.
fn failed(step: Step, flags: &[&str]) -> Output {
    let (place, server) = (Place::new(), ModelServer::start([step]).unwrap());
    let output = agent(&place, &server, flags).env("REMIT_MODEL_MAX_RETRIES", "0").run().ended(1);
    assert_eq!(server.requests().len(), 1);
    output
}

#[test]
fn faults_that_stay_are_told() {
    let check = |step: Step, said: &str| {
        let output = failed(step, &[]);
        assert_eq!(output.stdout, "");
        assert!(
            output.stderr.starts_with("remit: no answer: the model failed: "),
            "{}",
            output.stderr
        );
        assert!(output.stderr.contains(said), "{}", output.stderr);
    };
    check(Step::error(401, "who are you"), "401: who are you");
    check(Step::error(500, "oops"), "500: oops");
    check(Step::body("text/html", "<html>"), "no valid reply");
    check(Step::json(&json!({"choices": []})), "no valid reply");
    check(Step::json(&json!({"choices": [{"message": {"tool_calls": 5}}]})), "no valid reply");
    check(Step::body("application/json", "{\"choices\": [").cut(), "");
    let events = failed(Step::error(500, "oops"), &["--json"]).json();
    let outcome = events.last().unwrap();
    assert_eq!(
        (&outcome["stop"]["reason"], &outcome["stop"]["status"]),
        (&json!("model_error"), &json!(500))
    );
}

#[test]
fn a_server_that_does_not_answer_ends_at_the_timeout_or_the_wall_clock() {
    let never = || Step::json(&reply("late")).delay(std::time::Duration::from_secs(600));
    let (place, server) = (Place::new(), ModelServer::start([never(), never()]).unwrap());
    let output = agent(&place, &server, &[])
        .env("REMIT_MODEL_TIMEOUT_SECS", "1")
        .env("REMIT_MODEL_MAX_RETRIES", "0")
        .run()
        .ended(1);
    assert!(output.stderr.contains("did not answer within 1s"), "{}", output.stderr);
    let output = agent(&place, &server, &["--wall-clock-ms", "200"]).run().ended(1);
    assert!(output.stderr.contains("the chain's time of 200 ms is over"), "{}", output.stderr);
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let place = Place::new();
    let args = ["agent", "task", "--model", "m", "--model-url", "http://127.0.0.1:1"];
    let output = place.remit(args).env("REMIT_MODEL_MAX_RETRIES", "0").run().ended(1);
    assert!(output.stderr.contains("could not be reached"), "{}", output.stderr);
}

const KEY: &str = "sk-a-very-secret-key";

#[test]
fn the_key_reaches_the_server_and_nothing_else() {
    let steps = [
        Step::error(500, KEY).header("retry-after", "0"),
        Step::json(&asks()),
        Step::error(400, KEY),
    ];
    let (place, server) = (Place::new(), ModelServer::start(steps).unwrap());
    let flags = ["--json", "-vvv", "--audit", "trail"];
    let output = agent(&place, &server, &flags).env("OPENAI_API_KEY", KEY).run().ended(1);
    assert_eq!(server.requests().len(), 3);
    for request in server.requests() {
        assert_eq!(request.header("authorization"), Some(&*format!("Bearer {KEY}")));
    }
    for told in [output.stdout, output.stderr, place.read("trail")] {
        assert!(!told.is_empty());
        assert!(!told.contains(KEY), "{told}");
    }
}

#[test]
fn the_key_is_read_from_the_variable_that_is_named() {
    let (place, server) = (Place::new(), ModelServer::start([Step::json(&reply("hi"))]).unwrap());
    let remit = agent(&place, &server, &[]).env("REMIT_MODEL_API_KEY_ENV", "MY_KEY");
    remit.env("MY_KEY", KEY).env("OPENAI_API_KEY", "another").run().ended(0);
    assert_eq!(server.requests()[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
}

#[test]
fn a_key_that_can_not_be_sent_is_refused_and_not_repeated() {
    let (place, server) = (Place::new(), ModelServer::start([]).unwrap());
    let output = agent(&place, &server, &[]).env("OPENAI_API_KEY", "secret\nkey").run().ended(2);
    assert!(output.stderr.contains("OPENAI_API_KEY"), "{}", output.stderr);
    assert!(!output.stderr.contains("secret"), "{}", output.stderr);
    assert!(server.requests().is_empty());
}

#[test]
fn anthropic_is_spoken_too() {
    let says = json!({
        "type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "hi"}],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let (place, server) = (Place::new(), ModelServer::start([Step::json(&says)]).unwrap());
    let remit = agent(&place, &server, &["--provider", "anthropic"]).env("ANTHROPIC_API_KEY", KEY);
    assert_eq!(remit.run().ended(0).stdout, "hi\n");
    assert_eq!(server.requests()[0].header("x-api-key"), Some(KEY));
}

#[test]
fn a_tool_that_a_provider_can_not_take_is_named_in_a_warning() {
    let (place, server) = (Place::new(), ModelServer::start([Step::json(&reply("hi"))]).unwrap());
    let schema = json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    place.file("defs.json", json!([{"name": "pick", "parameters": schema}]).to_string());
    let url = server.url();
    let args = ["agent", "task", "--model", "m", "--model-url", &url, "--tools", "defs.json"];
    let output = place.remit(args).run().ended(0);
    assert_eq!(output.stdout, "hi\n");
    assert!(
        output.stderr.trim_start().starts_with("WARN ") && output.stderr.contains("pick"),
        "{}",
        output.stderr
    );
}
