//! `remit exec` with `[sandbox]`: code and bash that remember, from a configuration to the results.

use serde_json::{Value, json};

use crate::support::{Place, answers, expected};

const CONFIG: &str = "[sandbox]\nenabled = true\n[tools]\nexecute = true\n";

/// Runs calls of the tool, one after the other, each in a line.
fn run(place: &Place, allowed: &str, calls: &[Value]) -> Vec<Value> {
    let lines = calls.iter().enumerate().map(|(n, arguments)| {
        json!({"id": n.to_string(), "name": "sandbox", "arguments": arguments}).to_string() + "\n"
    });
    place.file("remit.toml", CONFIG);
    let args = ["exec", "--config", "remit.toml", "--allow-tool", allowed];
    place.remit(args).input(lines.collect::<String>()).run().ended(0).json()
}

#[test]
fn code_and_bash_remember_from_call_to_call() {
    let place = Place::new();
    let calls = [
        json!({"op": "execute_code", "code": "x = 41"}),
        json!({"op": "execute_code", "code": "print(x + 1)"}),
        json!({"op": "execute_code", "code": "while True: pass", "timeout_ms": 1000}),
        json!({"op": "execute_code", "code": "x"}),
        json!({"op": "execute_bash", "command": "mkdir d; cd d; export Y=8"}),
        json!({"op": "execute_bash", "command": "echo $Y; basename \"$PWD\""}),
        json!({"op": "recursive_query", "prompt": "?"}),
    ];
    let results = run(&place, "sandbox", &calls);
    let kinds = ["ok", "ok", "ok", "ok", "ok", "ok", "backend_unavailable"];
    let kinds: Vec<_> = kinds.iter().enumerate().map(|(n, kind)| (n.to_string(), *kind)).collect();
    let kinds: Vec<_> = kinds.iter().map(|(n, kind)| (n.as_str(), *kind)).collect();
    assert_eq!(answers(&results), expected(&kinds));
    let json = |n: usize| &results[n]["content"][0]["json"];
    assert_eq!(json(1)["stdout"], "42\n");
    assert_eq!((&json(2)["timed_out"], &json(2)["state"]), (&json!(true), &json!("kept")));
    assert_eq!(json(3)["value"], "41");
    assert_eq!(json(5)["stdout"], "8\nd\n");
    assert_eq!(json(1)["session_id"], json(5)["session_id"]);
    assert_eq!(results[1]["confinement"]["seccomp"]["status"], "enforced");
}

#[test]
fn an_operation_that_is_not_allowed_is_refused() {
    let place = Place::new();
    let calls = [
        json!({"op": "execute_bash", "command": "echo spoilt > file"}),
        json!({"op": "execute_code", "code": "6 * 7"}),
    ];
    let results = run(&place, "sandbox.execute_code", &calls);
    assert_eq!(answers(&results), expected(&[("0", "unauthorized"), ("1", "ok")]));
    assert!(!place.path().join("file").exists());
}
