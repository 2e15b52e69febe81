//! Hostile and broken input: everything is answered, and the next request works.

use serde_json::{Value, json};

use crate::client::Place;

#[test]
fn a_line_that_is_no_message_is_answered() {
    let place = Place::new();
    let mut client = place.client();
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"x":"{}"}}"#, "x".repeat(3 * 1024 * 1024));
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":77,"method":"x","params":{{"a":{}{}}}}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let cases: [(&[u8], i64, Value); 13] = [
        (b"nonsense", -32700, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",", -32700, Value::Null),
        (b"\xff\xfe\x00", -32700, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"\xc3\"}", -32700, Value::Null),
        (long.as_bytes(), -32600, Value::Null),
        (deep.as_bytes(), -32600, json!(77)),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, Value::Null),
        (b"42", -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600, Value::Null),
        (br#"{"id":88,"method":"ping"}"#, -32600, json!(88)),
        (br#"{"jsonrpc":"2.0","id":88}"#, -32600, json!(88)),
        (
            br#"{"jsonrpc":"2.0","id":88,"method":"ping","method":"tools/list"}"#,
            -32600,
            Value::Null,
        ),
    ];
    for (line, code, id) in cases {
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        client.send(line);
        let answer = client.next_answer();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{shown}");
        assert!(answer.to_string().len() < 1000, "{shown}");
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}), "{shown}");
    }
    // Blank lines are nothing, and Windows' ends of lines are white space.
    client.send(b"\n \r\n\t");
    client.send(b"{\"jsonrpc\":\"2.0\",\"id\":\"w\",\"method\":\"ping\"}\r");
    assert_eq!(client.next_answer()["id"], "w");
}

#[test]
fn an_id_that_is_in_use_is_not_taken_again() {
    let place = Place::new();
    let mut client = place.client();
    let slow = r#"{"jsonrpc":"2.0","id":"same","method":"tools/call","params":{"name":"sandbox_execute_bash","arguments":{"command":"sleep 1; echo first"}}}"#;
    client.send(slow.as_bytes());
    client.send(br#"{"jsonrpc":"2.0","id":"same","method":"ping"}"#);
    let refusal = client.next_answer();
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert!(refusal["error"]["message"].as_str().unwrap().contains("same"));
    let answer = client.next_answer();
    assert_eq!(answer["result"]["structuredContent"]["stdout"], "first\n", "{answer}");
    // Answered, it is free.
    client.send(br#"{"jsonrpc":"2.0","id":"same","method":"ping"}"#);
    assert_eq!(client.next_answer()["result"], json!({}));
}

#[test]
fn pieces_of_lines_and_many_lines_at_once_are_put_together() {
    let place = Place::new();
    let mut client = place.client();
    let all: String = (0..200)
        .map(|n| json!({"jsonrpc": "2.0", "id": n + 100, "method": "ping"}).to_string() + "\n")
        .collect();
    for piece in all.as_bytes().chunks(977) {
        use std::io::Write;
        client.stdin.as_mut().unwrap().write_all(piece).unwrap();
    }
    let mut ids: Vec<_> = (0..200).map(|_| client.next_answer()["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(100..300));
}

#[test]
fn before_a_session_has_begun_nothing_ends_it() {
    let place = Place::new();
    let mut client = place.silent_client(&["--config", "remit.toml"]);
    client.send(b"nonsense");
    assert_eq!(client.next_answer()["error"]["code"], -32700);
    client.notify("notifications/cancelled", json!({"requestId": 5}));
    client.send(br#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(client.ask("tools/list", json!({}))["error"]["code"], -32602);
    assert_eq!(client.initialize("2025-06-18")["protocolVersion"], "2025-06-18");
    assert!(!client.tools().is_empty());
}
