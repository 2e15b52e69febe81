//! Retries, deadlines, redirects and proxies, which all providers have in common.

use std::time::{Duration, Instant};

use model::{Dialect, HttpOptions, ModelError, OpenAiChat};
use serde_json::json;
use testkit::{ModelServer, Step};

use crate::support::{ask, chunk, end, options, provider, question, says};

/// Asks a server of these steps; gives the outcome and how many requests were made.
async fn outcome(
    steps: Vec<Step>,
    change: impl FnOnce(&mut HttpOptions),
) -> (Result<String, ModelError>, usize) {
    let server = ModelServer::start(steps).unwrap();
    let mut options = options(&server, false);
    change(&mut options);
    let reply = ask(provider(Dialect::OpenAi, options).as_ref(), &question()).await.0;
    (reply.map(|reply| reply.text), server.requests().len())
}

#[tokio::test]
async fn what_fails_for_a_moment_is_tried_again() {
    for status in [408, 429, 500, 502, 503, 504, 529] {
        let steps = vec![Step::error(status, "wait"), says("ok")];
        let (reply, requests) = outcome(steps, |_| {}).await;
        assert_eq!((reply.unwrap().as_str(), requests), ("ok", 2), "{status}");
    }
    let cut = Step::body("application/json", "{\"choices\": ").cut();
    let (reply, requests) = outcome(vec![cut, says("ok")], |_| {}).await;
    assert_eq!((reply.unwrap().as_str(), requests), ("ok", 2));
}

#[tokio::test]
async fn attempts_are_counted_and_the_last_error_is_told() {
    let steps = vec![Step::error(500, "down"); 5];
    let (reply, requests) = outcome(steps, |options| options.max_retries = 2).await;
    let error = reply.unwrap_err();
    assert_eq!(requests, 3);
    assert_eq!(error.to_string(), "openai at 127.0.0.1 answered 500: down");
}

#[tokio::test]
async fn what_will_not_get_better_is_not_tried_again() {
    for status in [400, 401, 403, 404, 422] {
        let (reply, requests) = outcome(vec![Step::error(status, "no"), says("ok")], |_| {}).await;
        assert_eq!(requests, 1, "{status}");
        assert!(matches!(reply, Err(ModelError::Status { status: s, .. }) if s == status));
    }
    let nonsense = Step::body("application/json", "{}");
    let (reply, requests) = outcome(vec![nonsense, says("ok")], |_| {}).await;
    assert!(matches!(reply, Err(ModelError::Protocol { .. })), "{reply:?}");
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn retry_after_is_honoured() {
    let wait = Step::error(429, "wait").header("Retry-After", "1");
    let begun = Instant::now();
    let (reply, requests) = outcome(vec![wait, says("ok")], |_| {}).await;
    assert_eq!((reply.unwrap().as_str(), requests), ("ok", 2));
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());

    // A date that is past means at once.
    let past = Step::error(503, "x").header("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT");
    let (reply, _) = outcome(vec![past, says("ok")], |_| {}).await;
    assert_eq!(reply.unwrap(), "ok");
}

#[tokio::test]
async fn a_pause_past_the_deadline_is_an_answer_at_once() {
    let wait = Step::error(429, "come back").header("retry-after", "3600");
    let begun = Instant::now();
    let (reply, requests) = outcome(vec![wait, says("ok")], |_| {}).await;
    let Err(ModelError::Status { status: 429, retry_after, message, .. }) = reply else {
        panic!("{reply:?}")
    };
    assert_eq!((retry_after, message.as_str()), (Some(Duration::from_secs(3600)), "come back"));
    assert_eq!(requests, 1);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_silent_server_is_given_up_and_asked_again() {
    let silent = says("late").delay(Duration::from_secs(30));
    let patience = Duration::from_millis(100);
    let (reply, requests) =
        outcome(vec![silent.clone(), says("ok")], |options| options.idle_timeout = patience).await;
    assert_eq!((reply.unwrap().as_str(), requests), ("ok", 2));

    let (reply, requests) = outcome(vec![silent; 5], |options| {
        options.idle_timeout = patience;
        options.max_retries = 1;
    })
    .await;
    assert!(matches!(reply, Err(ModelError::TimedOut { after, .. }) if after == patience));
    assert_eq!(requests, 2);
}

#[tokio::test]
async fn the_timeout_holds_over_all_attempts_and_pieces() {
    let limit = Duration::from_millis(300);
    let silent = says("late").delay(Duration::from_secs(30));
    let begun = Instant::now();
    let (reply, _) = outcome(vec![silent], |options| options.timeout = limit).await;
    assert!(matches!(reply, Err(ModelError::TimedOut { after, .. }) if after == limit));

    // A server that never is silent for long, and never done.
    let chunks = vec![chunk(json!({"content": "."})); 1000];
    let dripping =
        Step::openai_stream(&chunks).in_pieces_of(40).piece_delay(Duration::from_millis(20));
    let (reply, _) = outcome(vec![dripping], |options| options.timeout = limit).await;
    assert!(matches!(reply, Err(ModelError::TimedOut { .. })), "{reply:?}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_stream_that_was_heard_is_not_begun_again() {
    let text = format!("data: {}\n\n", chunk(json!({"content": "hel"})));
    let whole = Step::openai_stream(&[chunk(json!({"content": "hello"})), end("stop")]);
    for (first, requests) in [(Step::events(text).cut(), 1), (Step::events(": hi\n\n").cut(), 2)] {
        let (reply, made) =
            outcome(vec![first, whole.clone()], |options| options.stream = true).await;
        assert_eq!(made, requests);
        assert_eq!(reply.is_ok(), requests == 2, "{reply:?}");
    }
}

#[tokio::test]
async fn nobody_there_is_a_transport_error() {
    let server = ModelServer::start([]).unwrap();
    let options = options(&server, false);
    drop(server);
    let error = ask(provider(Dialect::OpenAi, options).as_ref(), &question()).await.0.unwrap_err();
    assert!(matches!(error, ModelError::Transport { .. }), "{error:?}");
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = ModelServer::start([says("stolen")]).unwrap();
    let moved = Step::body("text/plain", "").status(307).header("location", &other.url());
    let (reply, requests) = outcome(vec![moved, says("ok")], |_| {}).await;
    assert!(matches!(reply, Err(ModelError::Status { status: 307, .. })), "{reply:?}");
    assert_eq!((requests, other.requests().len()), (1, 0));
}

#[tokio::test]
async fn a_proxy_is_used_where_it_is_named() {
    let proxy = ModelServer::start([says("through the proxy")]).unwrap();
    let mut options = HttpOptions::new("http://model.invalid/v1", "m");
    options.proxy = Some(proxy.url());
    let reply = ask(&OpenAiChat::new(options).unwrap(), &question()).await.0.unwrap();
    assert_eq!(reply.text, "through the proxy");
    assert_eq!(proxy.requests()[0].path, "http://model.invalid/v1/chat/completions");
}

#[tokio::test]
async fn a_base_with_a_path_or_a_slash_reaches_the_api() {
    for (tail, path) in [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/openai/v1", "/openai/v1/chat/completions"),
    ] {
        let server = ModelServer::start([says("ok")]).unwrap();
        let mut options = options(&server, false);
        options.url = format!("{}{tail}", server.url());
        assert!(ask(provider(Dialect::OpenAi, options).as_ref(), &question()).await.0.is_ok());
        let request = &server.requests()[0];
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", path));
    }
}
