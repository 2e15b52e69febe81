//! `api`: a request and its answer as they are.

use browser::BrowserConfig;
use serde_json::{Value, json};
use testkit::web::{Answer, WebServer};
use tool_core::Limits;

use crate::{common::allowing, support::Tool};

/// A server that tells what it was sent.
fn echo() -> WebServer {
    WebServer::start(|request| {
        let body = json!({
            "method": request.method,
            "type": request.header("content-type"),
            "key": request.header("x-api-key"),
            "body": String::from_utf8_lossy(&request.body),
        });
        let headers = [
            ("Content-Type", "application/json"),
            ("Set-Cookie", "session=top-secret"),
            ("X-Rate", "7"),
        ];
        Answer::new(201, &headers, body.to_string())
    })
    .unwrap()
}

async fn sent(server: &WebServer, more: Value) -> (Value, Value, String) {
    let mut arguments = json!({"op": "api", "method": "POST", "url": server.url("/v1")});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = Tool::of(server).answer(arguments).await;
    let (headers, body) = answer.inside().split_once("\n\n").unwrap();
    let body = serde_json::from_str(body).unwrap();
    (answer.facts.clone(), body, headers.to_owned())
}

#[tokio::test]
async fn a_post_goes_there_and_back() {
    let server = echo();
    let more = json!({"headers": {"X-Api-Key": "k"}, "body": {"a": [1, "ä"]}});
    let (facts, body, headers) = sent(&server, more).await;
    assert_eq!(
        (&facts["status"], &facts["content_type"]),
        (&json!(201), &json!("application/json"))
    );
    let expected = json!({
        "method": "POST", "type": "application/json", "key": "k", "body": "{\"a\":[1,\"ä\"]}",
    });
    assert_eq!(body, expected);
    assert!(headers.contains("x-rate: 7"), "{headers}");
    assert!(!headers.contains("top-secret") && !headers.contains("cookie"), "{headers}");
    assert_eq!(facts["cookies_withheld"], 1);
}

#[tokio::test]
async fn the_type_of_a_body_is_what_it_looks_like_or_what_is_said() {
    let server = echo();
    let check = async |more: Value, content_type: &str, expected: &str| {
        let (_, body, _) = sent(&server, more.clone()).await;
        assert_eq!(
            (&body["type"], &body["body"]),
            (&json!(content_type), &json!(expected)),
            "{more}"
        );
    };
    check(json!({"body": [1, 2]}), "application/json", "[1,2]").await;
    check(json!({"body": " {\"a\": 1}"}), "application/json", " {\"a\": 1}").await;
    check(json!({"body": "a=1&b=2"}), "text/plain; charset=utf-8", "a=1&b=2").await;
    check(json!({"body": "12"}), "text/plain; charset=utf-8", "12").await;
    let form = json!({
        "body": "a=1",
        "headers": {"Content-Type": "application/x-www-form-urlencoded"},
    });
    check(form, "application/x-www-form-urlencoded", "a=1").await;
}

#[tokio::test]
async fn wrong_types_and_headers_that_are_ours_are_refused() {
    let server = echo();
    let tool = Tool::of(&server);
    for (more, part) in [
        (json!({"body": 7}), "/body"),
        (json!({"body": true}), "/body"),
        (json!({"headers": []}), "/headers"),
        (json!({"headers": {"X": 1}}), "/headers/X"),
        (json!({"headers": {"Host": "evil.test"}}), "/headers"),
        (json!({"headers": {"content-length": "999"}}), "/headers"),
        (json!({"headers": {"Transfer-Encoding": "chunked"}}), "/headers"),
        (json!({"headers": {"X": "a\r\nY: b"}}), "/headers"),
        (json!({"headers": {"X y": "a"}}), "/headers"),
        (json!({"method": "get"}), "/method"),
        (json!({"method": "DELETE"}), "/method"),
        (json!({"method": "GET / HTTP/1.1\r\nX"}), "/method"),
        (json!({"method": "GET", "body": "x"}), "/body"),
        (json!({"url": 5}), "/url"),
        (json!({"selector": "p"}), "selector"),
    ] {
        let mut arguments = json!({"op": "api", "method": "POST", "url": server.url("/v1")});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (kind, message) = tool.error(arguments).await;
        assert_eq!(kind, "invalid_arguments", "{more}: {message}");
        assert!(message.contains(part), "{more}: {message}");
    }
    let without = json!({"op": "api", "url": server.url("/")});
    assert_eq!(tool.error(without).await.0, "invalid_arguments");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn an_operator_says_which_methods_there_are() {
    let server = echo();
    let methods = ["DELETE", "PATCH"].map(str::to_owned).to_vec();
    let config = BrowserConfig { api_methods: methods, ..allowing(&[&server]) };
    let tool = Tool::with(&config, Limits::default());
    let call = |method: &str| json!({"op": "api", "method": method, "url": server.url("/")});
    assert_eq!(tool.answer(call("DELETE")).await.facts["status"], 201);
    let (kind, message) = tool.error(call("POST")).await;
    assert_eq!(kind, "invalid_arguments");
    assert!(message.contains("DELETE") && message.contains("PATCH"), "{message}");
}

#[tokio::test]
async fn what_is_no_text_is_not_shown() {
    let server = WebServer::always(Answer::of_type("image/png", b"\x89PNG\r\n\x1a\n\0\0")).unwrap();
    let arguments = json!({"op": "api", "method": "GET", "url": server.url("/")});
    let answer = Tool::of(&server).answer(arguments).await;
    assert_eq!(answer.facts["body_is_binary"], true);
    assert_eq!(answer.inside().trim_end().lines().count(), 2, "{}", answer.text);
}

#[tokio::test]
async fn a_body_in_another_charset_is_read_in_it() {
    let body = b"caf\xe9 \x80".as_slice();
    let server =
        WebServer::always(Answer::of_type("text/plain; charset=windows-1252", body)).unwrap();
    let arguments = json!({"op": "api", "method": "GET", "url": server.url("/")});
    let answer = Tool::of(&server).answer(arguments).await;
    assert!(answer.inside().ends_with("café €"), "{}", answer.text);
    assert_eq!(answer.facts["charset"], "windows-1252");
}

#[tokio::test]
async fn a_busy_server_is_a_result_that_says_when() {
    let answer = Answer::new(429, &[("Retry-After", "3600")], "slow down");
    let server = WebServer::always(answer).unwrap();
    let arguments = json!({"op": "api", "method": "GET", "url": server.url("/")});
    let answer = Tool::of(&server).answer(arguments).await;
    assert_eq!(
        (&answer.facts["status"], &answer.facts["retry_after_s"]),
        (&json!(429), &json!(3600))
    );
}
