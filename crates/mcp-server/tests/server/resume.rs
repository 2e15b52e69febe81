//! A stream that broke is taken up where it was.

use std::io::{BufRead, BufReader};

use mcp_server::HttpConfig;

use crate::served::{Reply, Served, call};

#[test]
fn what_was_missed_comes_with_the_next_stream() {
    let served = Served::start(HttpConfig::default());
    let session = served.session().unwrap();
    let headers = [("Mcp-Session-Id", session.as_str())];
    let body = call("lines", Some("watched")).to_string();
    let mut reader = BufReader::new(served.send("POST", &headers, body.as_bytes()));
    let (mut last, mut event) = (None, String::new());
    // Until the event with the first progress has come; then the connection breaks.
    while !(event.contains("notifications/progress") && event.ends_with("\n\n")) {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the stream ended");
        if let Some(id) = line.strip_prefix("id:") {
            last = Some(id.trim().to_owned());
        }
        event += &line.replace('\r', "");
    }
    drop(reader);
    let last = last.unwrap();
    let headers = [("Mcp-Session-Id", session.as_str()), ("Last-Event-ID", last.as_str())];
    let stream = served.send("GET", &headers, b"");
    let rest = until_answered(stream);
    let messages = rest.messages();
    assert_eq!(rest.said(), "said", "{}", rest.text);
    let values: Vec<_> =
        messages.iter().filter_map(|message| message["params"]["progress"].as_f64()).collect();
    assert!(!values.is_empty() && values.windows(2).all(|two| two[0] < two[1]), "{values:?}");
    assert!(values[0] > 1.0, "the first one was seen already: {values:?}");
}

/// What a stream gives until the answer to the call.
fn until_answered(stream: std::net::TcpStream) -> Reply {
    let (mut reader, mut text) = (BufReader::new(stream), String::new());
    while !text.contains("\"result\"") {
        assert!(reader.read_line(&mut text).unwrap() > 0, "no answer: {text}");
    }
    Reply { text }
}
