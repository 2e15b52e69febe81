//! Versions, pages, the log, and a configuration that changes.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::client::{CONFIG, DEADLINE, Place};

#[test]
fn every_version_that_hosts_speak_is_spoken() {
    let place = Place::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = place.silent_client(&["--config", "remit.toml"]);
        let begun = client.initialize(version);
        assert_eq!(begun["protocolVersion"], version);
        assert_eq!(begun["serverInfo"]["name"], "remit");
        assert!(begun["instructions"].as_str().unwrap().contains("sessions"));
        assert_eq!(client.call("capitals", json!({"key": "France"}))["result"]["isError"], false);
    }
    let mut client = place.silent_client(&["--config", "remit.toml"]);
    assert_eq!(client.initialize("1999-01-01")["protocolVersion"], "2025-11-25");
}

#[test]
fn the_revision_without_sessions_is_spoken_too() {
    let place = Place::new();
    let mut client = place.silent_client(&["--config", "remit.toml"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.ask("server/discover", json!({"_meta": meta}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let call = json!({"name": "capitals", "arguments": {"key": "France"}, "_meta": meta});
    let answer = client.ask("tools/call", call);
    assert_eq!(answer["result"]["content"][0]["text"], "Paris", "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
}

#[test]
fn methods_and_params_that_are_wrong_have_their_codes() {
    let place = Place::new();
    let mut client = place.client();
    for (method, params, code) in [
        ("no/such", json!({}), -32601),
        ("tools/call", json!({"arguments": {}}), -32602),
        ("tools/call", json!({"name": 5}), -32602),
        ("tools/call", json!({"name": "capitals", "_meta": 5}), -32602),
        ("logging/setLevel", json!({"level": "loud"}), -32602),
        ("tools/list", json!({"cursor": "nowhere"}), -32602),
    ] {
        let answer = client.ask(method, params.clone());
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
    }
}

#[test]
fn a_long_list_comes_in_pages() {
    let place = Place::new();
    let tables: String =
        (0..600).map(|n| format!("[tools.lookup.table{n}]\nkey = \"value\"\n")).collect();
    let allow: Vec<_> = (0..600).map(|n| format!("\"table{n}\"")).collect();
    place.write(
        "remit.toml",
        &format!("[tools]\nexecute = true\nallow = [{}]\n{tables}", allow.join(", ")),
    );
    let mut client = place.client();
    let (mut names, mut pages, mut cursor) = (Vec::new(), 0, json!({}));
    loop {
        let page = client.ask("tools/list", cursor.clone())["result"].clone();
        let tools = page["tools"].as_array().unwrap();
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        pages += 1;
        match &page["nextCursor"] {
            Value::Null => break,
            next => cursor = json!({"cursor": next}),
        }
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!((names.len(), pages), (600, 2));
}

#[test]
fn the_log_has_what_the_client_asked_for() {
    let place = Place::new();
    let mut client = place.client();
    client.call("capitals", json!({"key": "France"}));
    assert!(client.aside.is_empty(), "{:?}", client.aside);
    let mut logged = |level: &str, arguments: Value| {
        assert_eq!(client.ask("logging/setLevel", json!({"level": level}))["result"], json!({}));
        client.aside.clear();
        client.call("capitals", arguments);
        client.ask("ping", json!({}));
        client.aside.iter().map(|one| one["params"]["level"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(logged("info", json!({"key": "France"})), ["info"]);
    assert_eq!(logged("warning", json!({"key": "France"})), [] as [&str; 0]);
    assert_eq!(logged("warning", json!({})), ["warning"]);
    assert_eq!(logged("emergency", json!({})), [] as [&str; 0]);
    // At the most detailed level what a call writes is heard, too.
    client.ask("logging/setLevel", json!({"level": "debug"}));
    client.call("sandbox_execute_bash", json!({"command": "echo there"}));
    client.ask("ping", json!({}));
    let heard: Vec<_> = client.aside.iter().map(|one| one["params"]["data"].clone()).collect();
    assert!(
        heard.contains(&json!({"tool": "sandbox_execute_bash", "output": "there"})),
        "{heard:?}"
    );
}

#[test]
fn a_changed_configuration_changes_the_list() {
    let place = Place::new();
    let mut client = place.client();
    assert!(!client.names().contains(&"secrets".to_owned()));
    place.write("remit.toml", &CONFIG.replace("\"capitals\"]", "\"capitals\", \"secrets\"]"));
    client.signal(Signal::HUP);
    let told = client.next_within(DEADLINE).unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert!(client.names().contains(&"secrets".to_owned()));
    // What can't be used changes nothing.
    place.write("remit.toml", "[tools]\nexecute = 5\n");
    client.signal(Signal::HUP);
    assert_eq!(client.next_within(Duration::from_secs(1)), None);
    assert!(client.names().contains(&"secrets".to_owned()));
}

#[test]
fn without_a_session_a_client_listens_for_changes() {
    let place = Place::new();
    let mut client = place.silent_client(&["--config", "remit.toml"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({
        "notifications": {"toolsListChanged": true, "promptsListChanged": true},
        "_meta": meta,
    });
    let id = client.request("subscriptions/listen", params);
    let accepted = client.next_within(DEADLINE).unwrap();
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged", "{accepted}");
    let filter = &accepted["params"]["notifications"];
    assert_eq!(filter["toolsListChanged"], true, "{accepted}");
    assert!(filter["promptsListChanged"].is_null(), "there are no prompts: {accepted}");
    client.signal(Signal::HUP);
    let told = client.next_within(DEADLINE).unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{told}");
    client.notify("notifications/cancelled", json!({"requestId": id}));
    // A signal overtakes what is still in the pipe; an answer says that it was read.
    client.ask("tools/list", json!({"_meta": meta}));
    client.signal(Signal::HUP);
    assert_eq!(client.next_within(Duration::from_secs(1)), None);
}
