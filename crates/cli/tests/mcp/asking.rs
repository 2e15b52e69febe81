//! Calls that a person has to allow: asked by a request in sessions, by the answer to the call without.

use serde_json::{Value, json};

use crate::client::{CONFIG, Client, DEADLINE, Place};

fn place() -> Place {
    let place = Place::new();
    place.write(
        "remit.toml",
        &CONFIG.replace("[tools.lookup.capitals]", "ask = [\"capitals\"]\n[tools.lookup.capitals]"),
    );
    place
}

/// A client whose person can be asked.
fn asked(place: &Place) -> Client {
    let mut client = place.silent_client(&["--config", "remit.toml"]);
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "1"},
    });
    client.ask("initialize", params);
    client.notify("notifications/initialized", json!({}));
    client
}

/// Calls the tool, answers the question that comes, and gives the call's result.
fn answered(client: &mut Client, answer: Value) -> Value {
    let call = json!({"name": "capitals", "arguments": {"key": "France"}});
    let id = client.request("tools/call", call);
    let question = client.next_within(DEADLINE).unwrap();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("capitals") && message.contains("France"), "{message}");
    let reply = json!({"jsonrpc": "2.0", "id": question["id"], "result": answer});
    client.send(reply.to_string().as_bytes());
    client.answer_to(id)["result"].clone()
}

#[test]
fn a_person_in_a_session_is_asked_and_obeyed() {
    let place = place();
    let mut client = asked(&place);
    let result = answered(&mut client, json!({"action": "accept", "content": {}}));
    assert_eq!(result["content"][0]["text"], "Paris", "{result}");
    for no in ["decline", "cancel"] {
        let result = answered(&mut client, json!({"action": no}));
        assert_eq!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("unauthorized: "), "{text}");
    }
    let result = answered(&mut client, json!({"action": "accept", "content": {"always": true}}));
    assert_eq!(result["content"][0]["text"], "Paris", "{result}");
    // The same call is not asked for again, and another one is.
    let result = client.call("capitals", json!({"key": "France"}));
    assert_eq!(result["result"]["content"][0]["text"], "Paris", "{result}");
    client.request("tools/call", json!({"name": "capitals", "arguments": {"key": "Spain"}}));
    let question = client.next_within(DEADLINE).unwrap();
    assert_eq!(question["method"], "elicitation/create", "{question}");
}

#[test]
fn where_nobody_can_be_asked_nothing_runs() {
    let place = place();
    let mut client = place.client();
    let result = client.call("capitals", json!({"key": "France"}))["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
    assert!(!result.to_string().contains("Paris"), "{result}");
    // An answer that was not asked for is none.
    client.send(br#"{"jsonrpc":"2.0","id":0,"result":{"action":"accept"}}"#);
    let result = client.call("capitals", json!({"key": "France"}))["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
}

/// A call of the revision without sessions.
fn round(client: &mut Client, key: &str, more: Value) -> Value {
    let mut params = json!({
        "name": "capitals",
        "arguments": {"key": key},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        },
    });
    params.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
    client.ask("tools/call", params)
}

fn with(ticket: &Value, action: &str) -> Value {
    json!({"requestState": ticket, "inputResponses": {"approval": {"action": action}}})
}

#[test]
fn without_a_session_a_ticket_carries_the_answer() {
    let place = place();
    let mut client = place.silent_client(&["--config", "remit.toml"]);
    let asked = |client: &mut Client, key: &str| {
        let result = round(client, key, json!({}))["result"].clone();
        assert_eq!(result["resultType"], "input_required", "{result}");
        let question = &result["inputRequests"]["approval"];
        assert_eq!(question["method"], "elicitation/create", "{result}");
        result["requestState"].clone()
    };
    let ticket = asked(&mut client, "France");
    let answer = round(&mut client, "France", with(&ticket, "accept"));
    assert_eq!(answer["result"]["content"][0]["text"], "Paris", "{answer}");
    // It is good once, and only for the call that it was given for.
    let answer = round(&mut client, "France", with(&ticket, "accept"));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let ticket = asked(&mut client, "Spain");
    let answer = round(&mut client, "France", with(&ticket, "accept"));
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    let ticket = asked(&mut client, "France");
    let answer = round(&mut client, "France", with(&ticket, "decline"));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    // An answer without a ticket is asked for anew, and a wrong one is a fault.
    let unasked = json!({"inputResponses": {"approval": {"action": "accept"}}});
    let answer = round(&mut client, "France", unasked);
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    for wrong in
        [json!({"inputResponses": null}), json!({"requestState": 5}), with(&json!("x"), "accept")]
    {
        let answer = round(&mut client, "France", wrong.clone());
        assert_eq!(answer["error"]["code"], -32602, "{wrong}: {answer}");
    }
}
