//! Tools: what is listed, how calls are answered, progress and cancellation.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Place, is_running, marker, until};

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn what_is_authorized_is_listed_operation_by_operation() {
    let place = Place::new();
    let mut client = place.client();
    let tools = client.tools();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["capitals", "sandbox_execute_code", "sandbox_execute_bash"]);
    let code = &tools[1];
    assert_eq!(code["inputSchema"]["required"], json!(["code"]));
    let properties = code["inputSchema"]["properties"].as_object().unwrap();
    assert!(properties.keys().eq(["code", "session_id", "timeout_ms"]), "{properties:?}");
    assert_eq!(code["annotations"]["destructiveHint"], true);
    assert_eq!(code["annotations"]["openWorldHint"], false);
    assert_eq!(code["outputSchema"]["type"], "object");
    assert!(code["title"].as_str().unwrap().contains("execute code"));
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
}

#[test]
fn what_is_not_authorized_is_refused_though_it_exists() {
    let place = Place::new();
    let mut client = place.client();
    let cases = [
        ("secrets", json!({"key": "key"})),
        ("sandbox_file_put", json!({"path": "f", "content": "x"})),
        ("sandbox", json!({"op": "file_put", "path": "f", "content": "x"})),
    ];
    for (name, arguments) in cases {
        let answer = client.call(name, arguments);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(text(&answer).starts_with("unauthorized: "), "{answer}");
    }
    let answer = client.call("capital", json!({}));
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("\"capitals\""), "{answer}");
}

#[test]
fn a_result_is_structured_and_fits_what_was_promised() {
    let place = Place::new();
    let mut client = place.client();
    let answer = client.call("sandbox_execute_code", json!({"code": "x = 41\nx + 1"}));
    let result = &answer["result"];
    assert_eq!(result["isError"], false, "{answer}");
    assert_eq!(result["structuredContent"]["value"], "42");
    assert_eq!(serde_json::from_str::<Value>(text(&answer)).unwrap(), result["structuredContent"]);
    let later = client.call("sandbox_execute_code", json!({"code": "x"}));
    assert_eq!(later["result"]["structuredContent"]["value"], "41");
}

#[test]
fn an_image_is_an_image() {
    let place = Place::new();
    let mut client = place.client();
    let code = "class P:\n    def _repr_png_(self):\n        return b'\\x89PNG\\r\\n\\x1a\\n'\nP()";
    let answer = client.call("sandbox_execute_code", json!({"code": code}));
    let content = answer["result"]["content"].as_array().unwrap();
    let image = content.iter().find(|block| block["type"] == "image").unwrap();
    assert_eq!((&image["mimeType"], &image["data"]), (&json!("image/png"), &json!("iVBORw0KGgo=")));
}

#[test]
fn arguments_that_do_not_fit_are_answered_for_the_model() {
    let place = Place::new();
    let mut client = place.client();
    let large = format!(r#"{{"key":"{}"}}"#, "x".repeat(9000));
    let cases = [
        ("capitals", r#"{"key":5}"#, "invalid_arguments: "),
        ("capitals", "{}", "invalid_arguments: "),
        ("capitals", r#"{"key":"France","more":1}"#, "invalid_arguments: "),
        ("capitals", r#"{"key":"France","key":"Spain"}"#, "duplicate key"),
        ("capitals", r#"["France"]"#, "an array"),
        ("capitals", r#""France""#, "a string"),
        ("capitals", "7", "a number"),
        ("capitals", &large, "arguments_too_large: "),
        ("sandbox_execute_code", r#"{"code":"1","op":"file_put"}"#, "duplicate key \"op\""),
        ("sandbox_execute_code", r#"{"code":"1","code":"2"}"#, "duplicate key \"code\""),
        ("sandbox_execute_code", r#"{"command":"ls"}"#, "invalid_arguments: "),
        ("sandbox_execute_code", "[]", "an array"),
    ];
    for (n, (name, arguments, expected)) in cases.into_iter().enumerate() {
        let id = 1000 + i64::try_from(n).unwrap();
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        );
        client.send(message.as_bytes());
        let answer = client.answer_to(id);
        assert_eq!(answer["result"]["isError"], true, "{arguments}: {answer}");
        assert!(text(&answer).contains(expected), "{arguments}: {answer}");
    }
    // An object that was encoded once more loses nothing by being read.
    let answer = client.call("capitals", json!("{\"key\":\"France\"}"));
    assert_eq!(text(&answer), "Paris");
    let answer = client.call("sandbox_execute_code", json!("{\"code\":\"6*7\"}"));
    assert_eq!(answer["result"]["structuredContent"]["value"], "42");
}

#[test]
fn progress_has_the_clients_token_rises_and_ends_before_the_answer() {
    let place = Place::new();
    let mut client = place.client();
    let command = "for i in 1 2 3 4 5; do echo line $i; sleep 0.15; done";
    for token in [json!(0), json!("t")] {
        let id = client.request(
            "tools/call",
            json!({
                "name": "sandbox_execute_bash",
                "arguments": {"command": command},
                "_meta": {"progressToken": token},
            }),
        );
        client.aside.clear();
        let answer = client.answer_to(id);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        let progress: Vec<_> = client.aside.drain(..).collect();
        assert!(progress.len() >= 2, "{progress:?}");
        assert!(progress.iter().all(|one| one["method"] == "notifications/progress"));
        assert!(progress.iter().all(|one| one["params"]["progressToken"] == token));
        let values: Vec<_> =
            progress.iter().map(|one| one["params"]["progress"].as_f64().unwrap()).collect();
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
        assert!(progress[0]["params"]["message"].as_str().unwrap().starts_with("line "));
    }
    assert_eq!(client.next_within(Duration::from_millis(500)), None);
    // Without a token there is nothing to hear.
    let answer = client.call("sandbox_execute_bash", json!({"command": command}));
    assert_eq!((&answer["result"]["isError"], client.aside.len()), (&json!(false), 0));
}

#[test]
fn a_cancelled_call_ends_its_processes_and_is_not_answered() {
    let place = Place::new();
    let mut client = place.client();
    let marker = marker();
    let id = client.request(
        "tools/call",
        json!({
            "name": "sandbox_execute_bash",
            "arguments": {"command": format!("echo begun; sleep {marker}")},
            "_meta": {"progressToken": 7},
        }),
    );
    until("the call runs", || is_running(&marker));
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "test"}));
    until("the processes end", || !is_running(&marker));
    // A notification may have been on its way; after it nothing comes for that id.
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    client.aside.clear();
    assert_eq!(client.next_within(Duration::from_secs(1)), None);
    let answer = client.call("sandbox_execute_bash", json!({"command": "echo still here"}));
    assert_eq!(answer["result"]["structuredContent"]["stdout"], "still here\n", "{answer}");
    // Cancelling what is unknown or done is nothing.
    client.notify("notifications/cancelled", json!({"requestId": 99_999}));
    client.notify("notifications/cancelled", json!({"requestId": id}));
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn five_megabytes_are_cut_and_the_result_says_so() {
    let place = Place::new();
    let mut client = place.client();
    let answer = client.call("sandbox_execute_code", json!({"code": "print('x' * 5_000_000)"}));
    let result = &answer["result"];
    assert_eq!(result["isError"], false, "{}", tool_core::clip(&answer.to_string(), 500));
    assert!(answer.to_string().len() < 256 * 1024, "{}", answer.to_string().len());
    assert_eq!(result["structuredContent"]["truncated"], true);
    let omitted = result["structuredContent"]["stdout"]["omitted_bytes"].as_u64().unwrap();
    assert!(omitted > 4_900_000, "{omitted}");
}

#[test]
fn calls_run_side_by_side() {
    let place = Place::new();
    let mut client = place.client();
    let slow = client.request(
        "tools/call",
        json!({"name": "sandbox_execute_bash", "arguments": {"command": "sleep 2"}}),
    );
    let quick = client.call("capitals", json!({"key": "France"}));
    assert_eq!(text(&quick), "Paris");
    assert!(client.aside.is_empty(), "the slow one was first: {:?}", client.aside);
    assert_eq!(client.answer_to(slow)["result"]["isError"], false);
}
