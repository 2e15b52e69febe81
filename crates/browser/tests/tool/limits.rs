//! The ceilings of a call: its time, what it reads, and what it gives.

use std::time::{Duration, Instant};

use browser::BrowserConfig;
use serde_json::json;
use testkit::web::{Answer, WebServer, lies};
use tool_core::Limits;

use crate::{common::allowing, support::Tool};

#[tokio::test]
async fn a_call_ends_at_its_time_and_says_what_it_waited_for() {
    let server = WebServer::always(lies::slow_body()).unwrap();
    let tool = Tool::of(&server);
    let started = Instant::now();
    let arguments = json!({"op": "extract", "url": server.url("/"), "timeout_ms": 800});
    let (kind, message) = tool.error(arguments).await;
    assert_eq!(kind, "timed_out");
    assert!(message.contains("800 ms") && message.contains("the rest of the body"), "{message}");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_page_over_the_ceiling_is_cut_and_says_so() {
    let server = WebServer::always(lies::endless_body()).unwrap();
    let config = BrowserConfig { max_bytes: 4096, ..allowing(&[&server]) };
    let tool = Tool::with(&config, Limits::default());
    let answer = tool.answer(json!({"op": "navigate", "url": server.url("/")})).await;
    assert_eq!((&answer.facts["bytes"], &answer.facts["truncated"]), (&json!(4096), &json!(true)));
}

#[tokio::test]
async fn what_a_server_does_wrong_is_said() {
    for (answer, kind, part) in [
        (lies::many_headers(), "limit_exceeded", "header_bytes"),
        (Answer::redirect(302, "/"), "limit_exceeded", "redirects"),
        (Answer::redirect(302, "http://10.0.0.1/"), "execution_failed", "a redirect leads to"),
        (lies::another_protocol(), "execution_failed", "proper HTTP"),
        (lies::hang_up(), "execution_failed", "closed the connection"),
        (Answer::new(200, &[("Content-Encoding", "br")], "x"), "execution_failed", "\"br\""),
    ] {
        let server = WebServer::always(answer).unwrap();
        let arguments = json!({"op": "navigate", "url": server.url("/")});
        let (found, message) = Tool::of(&server).error(arguments).await;
        assert_eq!(found, kind, "{message}");
        assert!(message.contains(part), "{message}");
    }
}

#[tokio::test]
async fn what_is_cut_short_by_its_server_is_a_result_that_says_so() {
    let server = WebServer::always(lies::too_little()).unwrap();
    let arguments = json!({"op": "navigate", "url": server.url("/")});
    let answer = Tool::of(&server).answer(arguments).await;
    assert_eq!(answer.facts["incomplete"], true);
    assert!(answer.inside().contains("only this"), "{}", answer.text);
}

#[tokio::test]
async fn robots_txt_stops_reading_and_no_api() {
    let server = WebServer::start(|request| match request.target.as_str() {
        "/robots.txt" => Answer::of_type("text/plain", "User-agent: *\nDisallow: /\n"),
        _ => Answer::html("<p>page</p>"),
    })
    .unwrap();
    let config = BrowserConfig { robots: true, ..allowing(&[&server]) };
    let tool = Tool::with(&config, Limits::default());
    let (kind, message) = tool.error(json!({"op": "extract", "url": server.url("/")})).await;
    assert_eq!(kind, "execution_failed");
    assert!(message.contains("robots.txt"), "{message}");
    let api = json!({"op": "api", "method": "GET", "url": server.url("/")});
    assert_eq!(tool.answer(api).await.facts["status"], 200);
}
