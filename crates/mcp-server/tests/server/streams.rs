//! Clients on two streams: those that send anything, and those that never read.

use std::{sync::Arc, time::Duration};

use mcp_server::Server;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::tools::Tools;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn begin() -> String {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let begin = json!({"jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": params});
    let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    format!("{begin}\n{done}\n")
}

/// Sends bytes and closes the input; gives every line that came back, each of which is a message.
fn answers(bytes: &[u8]) -> Vec<Value> {
    let output = runtime().block_on(async {
        let server = Server::new(Arc::new(Tools::new())).unwrap();
        let (output, mut there) = tokio::io::duplex(64);
        let input = std::io::Cursor::new(bytes.to_vec());
        let serving = Box::pin(server.serve_streams(input, output, CancellationToken::new()));
        let mut read = Vec::new();
        // Whether it ends with an error is not asked: that it ends is.
        let (_, _) = tokio::join!(serving, there.read_to_end(&mut read));
        read
    });
    let text = String::from_utf8(output).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
    let message = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
    let messages: Vec<Value> = text.lines().map(message).collect();
    assert!(messages.iter().all(|message| message["jsonrpc"] == "2.0"), "{text}");
    messages
}

/// A line as a client might send it, or nearly.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let id = prop_oneof![
        (0i64..4).prop_map(|id| json!(id)),
        "[a-c]".prop_map(|id| json!(id)),
        Just(Value::Null),
        Just(json!(1.5)),
    ];
    let method = prop_oneof![
        Just("tools/call"),
        Just("tools/list"),
        Just("ping"),
        Just("initialize"),
        Just("server/discover"),
        Just("notifications/cancelled"),
        Just("logging/setLevel"),
        Just("subscriptions/listen"),
        Just("nonsense"),
    ];
    let params = prop_oneof![
        Just(json!({})),
        Just(json!([])),
        Just(json!({"name": "echo", "arguments": {"text": "a"}})),
        Just(json!({"name": "echo", "arguments": "{}", "_meta": {"progressToken": 0}})),
        Just(json!({"requestId": 1})),
        Just(json!({"cursor": "x"})),
        Just(json!({"name": "echo", "inputResponses": {"a": 1}, "requestState": "b"})),
        Just(json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})),
    ];
    let message = (id, method, params).prop_map(|(id, method, params)| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    });
    let bytes = proptest::collection::vec(any::<u8>(), 0..40);
    prop_oneof![
        4 => message.clone().prop_map(String::into_bytes),
        1 => bytes,
        2 => (message, any::<prop::sample::Index>(), any::<u8>()).prop_map(|(text, at, byte)| {
            let mut changed = text.into_bytes();
            let at = at.index(changed.len());
            changed[at] = byte;
            changed
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn whatever_is_sent_every_line_back_is_a_message(
        lines in proptest::collection::vec(line(), 0..12),
        has_begun in any::<bool>(),
    ) {
        let mut bytes = if has_begun { begin().into_bytes() } else { Vec::new() };
        for line in &lines {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
        let answers = answers(&bytes);
        if has_begun {
            prop_assert!(answers.iter().any(|answer| answer["id"] == "begin"));
        }
    }
}

#[test]
fn a_client_that_never_reads_is_not_read_without_end() {
    runtime().block_on(async {
        let server = Server::new(Arc::new(Tools::new())).unwrap();
        let (output, there) = tokio::io::duplex(1024);
        let (mut here, input) = tokio::io::duplex(1024);
        let stop = CancellationToken::new();
        let serving = tokio::spawn({
            let stop = stop.clone();
            async move { Box::pin(server.serve_streams(input, output, stop)).await }
        });
        here.write_all(begin().as_bytes()).await.unwrap();
        let mut reader = tokio::io::BufReader::new(there);
        let mut line = String::new();
        tokio::io::AsyncBufReadExt::read_line(&mut reader, &mut line).await.unwrap();
        assert!(line.contains("protocolVersion"), "{line}");
        let ask = |id: u32| {
            let params = json!({"name": "echo", "arguments": {"text": "a".repeat(500)}});
            let call =
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
            format!("{call}\n")
        };
        let mut sent = 0;
        // Until the server takes no more.
        while tokio::time::timeout(Duration::from_secs(2), here.write_all(ask(sent).as_bytes()))
            .await
            .is_ok()
        {
            sent += 1;
            assert!(sent < 5_000, "everything is taken from a client that never reads");
        }
        // One that reads after all gets its answers.
        let mut answers = 0;
        while answers < 100 {
            line.clear();
            let read = tokio::io::AsyncBufReadExt::read_line(&mut reader, &mut line);
            let read = tokio::time::timeout(Duration::from_secs(60), read).await.unwrap().unwrap();
            assert!(read > 0, "it ended after {answers} answers");
            answers += usize::from(line.contains("\"result\""));
        }
        // It ends though the rest is never read.
        stop.cancel();
        let ended = tokio::time::timeout(Duration::from_secs(60), serving).await;
        assert!(ended.is_ok(), "it waits for a client that does not read");
    });
}
