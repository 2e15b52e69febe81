//! Servers that are slow, endless, lying or malformed: each gets a clear error, or a marked answer, in time.

use std::time::{Duration, Instant};

use browser::{BrowserConfig, FetchError, FetchRequest, Fetched, Phase};
use testkit::web::{Answer, WebServer, lies};

use crate::common::{allowing, fetcher};

/// The time that a request has, and that it may take on a machine that is busy.
const TIME: Duration = Duration::from_millis(1500);
const AT_MOST: Duration = Duration::from_secs(10);

async fn fetch(answer: Answer) -> Result<Fetched, FetchError> {
    fetch_with(answer, BrowserConfig::default()).await
}

async fn fetch_with(answer: Answer, config: BrowserConfig) -> Result<Fetched, FetchError> {
    let server = WebServer::always(answer).unwrap();
    let config = BrowserConfig { internal_hosts: vec![server.host()], ..config };
    let started = Instant::now();
    let request = FetchRequest::get(server.url("/")).with_deadline(started + TIME);
    let fetched = fetcher(&config).fetch(request).await;
    assert!(started.elapsed() < AT_MOST, "{fetched:?}");
    fetched
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_ceiling() {
    let fetched = fetch(lies::endless_body()).await.unwrap();
    assert_eq!(fetched.body.len(), 512 << 10);
    assert!(fetched.is_truncated && !fetched.is_incomplete);
}

#[tokio::test]
async fn slow_servers_are_given_up_at_the_deadline() {
    for (answer, phase) in [
        (lies::slow_head(), Phase::Head),
        (lies::silence(), Phase::Head),
        (lies::slow_body(), Phase::Body),
        (lies::stalled_body(), Phase::Body),
    ] {
        match fetch(answer).await {
            Err(FetchError::TimedOut { phase: found, .. }) => assert_eq!(found, phase),
            other => panic!("{phase:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_head_has_a_time_of_its_own() {
    let config = BrowserConfig { first_byte_timeout_ms: 100, ..BrowserConfig::default() };
    let error = fetch_with(lies::silence(), config).await.unwrap_err();
    let FetchError::TimedOut { phase: Phase::Head, after, .. } = error else { panic!("{error}") };
    assert!(after <= Duration::from_millis(100));
}

#[tokio::test]
async fn a_length_that_lies_is_found_out() {
    let little = fetch(lies::too_little()).await.unwrap();
    assert_eq!(little.body, b"only this");
    assert!(little.is_incomplete && !little.is_truncated);

    let much = fetch(lies::too_much()).await.unwrap();
    assert_eq!(much.body, b"this");
    assert!(!much.is_incomplete);

    let both = fetch(lies::length_and_chunks()).await.unwrap();
    assert_eq!(both.body, b"abcde");

    let broken = fetch(lies::broken_chunks()).await.unwrap();
    assert_eq!(broken.body, b"abcdeab");
    assert!(broken.is_incomplete);
}

#[tokio::test]
async fn what_is_not_http_is_an_error_that_says_so() {
    for answer in
        [lies::two_lengths(), lies::bad_chunks(), lies::no_head(), lies::another_protocol()]
    {
        let error = fetch(answer.clone()).await.unwrap_err();
        assert!(matches!(error, FetchError::Protocol { .. }), "{answer:?}: {error}");
    }
    let error = fetch(lies::hang_up()).await.unwrap_err();
    assert!(matches!(error, FetchError::Closed { .. }), "{error}");
    let switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";
    let error = fetch(Answer::raw(switching)).await.unwrap_err();
    assert!(matches!(error, FetchError::Protocol { .. }), "{error}");
}

#[tokio::test]
async fn a_flood_of_headers_is_too_large() {
    for answer in [lies::many_headers(), lies::long_header(), lies::endless_interim()] {
        let error = fetch(answer).await.unwrap_err();
        assert!(matches!(error, FetchError::HeadTooLarge { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_a_clear_error() {
    let server = WebServer::always(Answer::html("x")).unwrap();
    let (config, url) = (allowing(&[&server]), server.url("/"));
    drop(server);
    let error = fetcher(&config).fetch(FetchRequest::get(url)).await.unwrap_err();
    assert!(matches!(error, FetchError::Dial(_)), "{error:?}");
    assert!(error.to_string().contains("can't be reached"), "{error}");
}
