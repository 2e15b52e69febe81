//! Streamable HTTP, with requests written by hand.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::client::{DEADLINE, Place, is_running, marker, until};

const TOKEN: &str = "0123456789abcdef-token";

struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(place: &Place) -> Self {
        let args = ["--config", "remit.toml", "--http", "127.0.0.1:0", "--audit", "audit.jsonl"];
        let mut command = place.command(&args);
        command.env("REMIT_MCP_TOKEN", TOKEN);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it did not start");
        }
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let address = line.trim().rsplit("http://").next().unwrap().trim_end_matches("/mcp");
        Self { child, address: address.parse().unwrap() }
    }

    fn ask(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        // A server that refuses early does not read all of it.
        let _ = stream.write_all(body);
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        Reply { text: String::from_utf8_lossy(&reply).into_owned() }
    }

    fn post(&self, session: Option<&str>, message: &Value) -> Reply {
        let bearer = format!("Bearer {TOKEN}");
        let mut headers = vec![("Authorization", bearer.as_str())];
        headers.extend(session.map(|session| ("Mcp-Session-Id", session)));
        self.ask("POST", &headers, message.to_string().as_bytes())
    }

    fn begin(&self) -> String {
        let reply = self.post(None, &initialize());
        assert_eq!(reply.status(), 200, "{}", reply.text);
        let session = reply.header("mcp-session-id").unwrap_or_else(|| panic!("{}", reply.text));
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(Some(&session), &done).status(), 202);
        session
    }

    fn call(&self, session: &str, name: &str, arguments: Value) -> Value {
        self.post(Some(session), &call(name, arguments)).message()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn initialize() -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    })
}

fn call(name: &str, arguments: Value) -> Value {
    let params = json!({"name": name, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

struct Reply {
    text: String,
}

impl Reply {
    fn status(&self) -> u16 {
        let status = self.text.split(' ').nth(1).unwrap_or_default();
        status.parse().unwrap_or_else(|_| panic!("no status: {}", self.text))
    }

    fn header(&self, name: &str) -> Option<String> {
        let head = self.text.split("\r\n\r\n").next()?;
        let line =
            head.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}:")))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    }

    /// The message with an id, plain or as an event.
    fn message(&self) -> Value {
        let lines = self.text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        messages
            .find(|message| message.get("id").is_some())
            .unwrap_or_else(|| panic!("{}", self.text))
    }
}

#[test]
fn a_session_keeps_its_state_and_shares_it_with_nobody() {
    let place = Place::new();
    let server = Server::start(&place);
    let (one, other) = (server.begin(), server.begin());
    assert_ne!(one, other);
    server.call(&one, "sandbox_execute_code", json!({"code": "x = 41"}));
    let answer = server.call(&one, "sandbox_execute_code", json!({"code": "x + 1"}));
    assert_eq!(answer["result"]["structuredContent"]["value"], "42", "{answer}");
    let answer = server.call(&other, "sandbox_execute_code", json!({"code": "x"}));
    assert_eq!(answer["result"]["structuredContent"]["error"]["type"], "NameError", "{answer}");
}

#[test]
fn arguments_are_read_as_strictly_as_everywhere() {
    let place = Place::new();
    let server = Server::start(&place);
    let session = server.begin();
    let bearer = format!("Bearer {TOKEN}");
    for arguments in
        [r#"{"key":"France","key":"x"}"#, r#"["France"]"#, r#""France""#, r#"{"key":1}"#]
    {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"capitals","arguments":{arguments}}}}}"#
        );
        let headers = [("Authorization", bearer.as_str()), ("Mcp-Session-Id", session.as_str())];
        let answer = server.ask("POST", &headers, body.as_bytes()).message();
        assert_eq!(answer["result"]["isError"], true, "{arguments}: {answer}");
    }
    let answer = server.call(&session, "capitals", json!({"key": "France"}));
    assert_eq!(answer["result"]["content"][0]["text"], "Paris");
    let answer = server.call(&session, "secrets", json!({"key": "key"}));
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().starts_with("unauthorized"));
}

#[test]
fn whoever_may_not_ask_runs_nothing() {
    let place = Place::new();
    let server = Server::start(&place);
    let bearer = format!("Bearer {TOKEN}");
    let session = server.begin();
    let cases: [(&[(&str, &str)], u16); 8] = [
        (&[], 401),
        (&[("Authorization", "Bearer 0123456789abcdef-tokex")], 401),
        (&[("Authorization", TOKEN)], 401),
        (&[("Authorization", &bearer), ("Host", "evil.example.com")], 403),
        (&[("Authorization", &bearer), ("Host", "127.0.0.1.evil.example.com")], 403),
        (&[("Authorization", &bearer), ("Origin", "https://evil.example.com")], 403),
        (&[("Authorization", &bearer), ("Origin", "http://localhost")], 403),
        (&[("Authorization", &bearer), ("Origin", "null")], 403),
    ];
    let body = call("capitals", json!({"key": "France"})).to_string();
    for (headers, status) in cases {
        let with_session: Vec<_> =
            headers.iter().copied().chain([("Mcp-Session-Id", session.as_str())]).collect();
        let reply = server.ask("POST", &with_session, body.as_bytes());
        assert_eq!(reply.status(), status, "{headers:?}: {}", reply.text);
        assert!(!reply.text.contains("Paris"));
    }
    let trail = std::fs::read_to_string(place.path().join("audit.jsonl")).unwrap_or_default();
    assert_eq!(trail, "", "a tool was asked for");
    server.call(&session, "capitals", json!({"key": "France"}));
    let trail = std::fs::read_to_string(place.path().join("audit.jsonl")).unwrap();
    assert!(trail.contains("capitals") && !trail.contains(TOKEN));
}

#[test]
fn an_unknown_session_is_not_found_and_a_new_one_is_had() {
    let place = Place::new();
    let server = Server::start(&place);
    let bearer = format!("Bearer {TOKEN}");
    let unknown = "00000000-0000-0000-0000-000000000000";
    let reply = server.post(Some(unknown), &call("capitals", json!({"key": "France"})));
    assert_eq!(reply.status(), 404, "{}", reply.text);
    let headers = [("Authorization", bearer.as_str()), ("Mcp-Session-Id", unknown)];
    assert_eq!(server.ask("GET", &headers, b"").status(), 404);
    let session = server.begin();
    let answer = server.call(&session, "capitals", json!({"key": "France"}));
    assert_eq!(answer["result"]["content"][0]["text"], "Paris");
}

#[test]
fn a_deleted_session_ends_its_processes() {
    let place = Place::new();
    let server = Server::start(&place);
    let session = server.begin();
    let marker = marker();
    let command = json!({"command": format!("sleep {marker} & sleep 0.1")});
    server.call(&session, "sandbox_execute_bash", command);
    assert!(is_running(&marker));
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Authorization", bearer.as_str()), ("Mcp-Session-Id", session.as_str())];
    let reply = server.ask("DELETE", &headers, b"");
    assert!((200..300).contains(&reply.status()), "{}", reply.text);
    until("the session's processes end", || !is_running(&marker));
    let reply = server.post(Some(&session), &call("capitals", json!({"key": "France"})));
    assert_eq!(reply.status(), 404);
}

#[test]
fn bodies_are_bounded_and_must_be_messages() {
    let place = Place::new();
    let server = Server::start(&place);
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Authorization", bearer.as_str())];
    let reply = server.ask("POST", &headers, &vec![b' '; 5 * 1024 * 1024]);
    assert_eq!(reply.status(), 413);
    for (body, code) in [
        (&b"nonsense"[..], -32700),
        (b"\xff", -32700),
        (b"[]", -32600),
        (br#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#, -32600),
    ] {
        let reply = server.ask("POST", &headers, body);
        assert_eq!((reply.status(), &reply.message()["error"]["code"]), (400, &json!(code)));
    }
}

#[test]
fn the_revision_without_sessions_is_served_without_one() {
    let place = Place::new();
    let server = Server::start(&place);
    let mut message = call("capitals", json!({"key": "France"}));
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "capitals"),
    ];
    let reply = server.ask("POST", &headers, message.to_string().as_bytes());
    assert_eq!(reply.status(), 200, "{}", reply.text);
    assert_eq!(reply.message()["result"]["content"][0]["text"], "Paris");
}

#[test]
fn two_hundred_sessions_at_once_are_served() {
    let place = Place::new();
    let server = Server::start(&place);
    std::thread::scope(|scope| {
        let ask = || {
            let session = server.begin();
            let answer = server.call(&session, "capitals", json!({"key": "France"}));
            answer["result"]["content"][0]["text"] == "Paris"
        };
        let clients: Vec<_> = (0..200).map(|_| scope.spawn(ask)).collect();
        assert!(clients.into_iter().all(|client| client.join().unwrap()));
    });
    // And no more than 256 are held.
    let statuses: Vec<_> = (0..60).map(|_| server.post(None, &initialize()).status()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 56, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
}

#[test]
fn an_interrupt_ends_the_server_and_its_sessions() {
    let place = Place::new();
    let mut server = Server::start(&place);
    let session = server.begin();
    let marker = marker();
    let command = json!({"command": format!("sleep {marker} & sleep 0.1")});
    server.call(&session, "sandbox_execute_bash", command);
    kill_process(Pid::from_child(&server.child), Signal::TERM).unwrap();
    until("it ends", || server.child.try_wait().unwrap().is_some());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    until("its processes end", || !is_running(&marker));
}
