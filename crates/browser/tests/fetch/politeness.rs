//! How a host is treated: places, delays, `Retry-After` and `robots.txt`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use browser::{BrowserConfig, FetchError, FetchRequest};
use testkit::web::{Answer, WebServer, lies};

use crate::common::{allowing, fetcher};

#[tokio::test]
async fn a_host_is_asked_by_no_more_than_have_a_place() {
    let pause = Duration::from_millis(100);
    let server = WebServer::always(Answer::html("x").after(pause)).unwrap();
    let config = BrowserConfig { per_host: 3, ..allowing(&[&server]) };
    let fetcher = Arc::new(fetcher(&config));
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..9 {
        let (fetcher, url) = (Arc::clone(&fetcher), server.url("/"));
        all.spawn(async move { fetcher.fetch(FetchRequest::get(url)).await.unwrap() });
    }
    assert_eq!(all.join_all().await.len(), 9);
    // A connection whose client has gone is still open for the moment in which the next one comes.
    assert!((2..=6).contains(&server.most_at_once()), "{}", server.most_at_once());
}

#[tokio::test]
async fn between_two_visits_there_is_a_delay_that_counts_against_the_deadline() {
    let server = WebServer::always(Answer::html("x")).unwrap();
    let config = BrowserConfig { host_delay_ms: 300, ..allowing(&[&server]) };
    let fetcher = fetcher(&config);
    let started = Instant::now();
    for _ in 0..3 {
        fetcher.fetch(FetchRequest::get(server.url("/"))).await.unwrap();
    }
    assert!(started.elapsed() >= Duration::from_millis(600));
    let soon = Instant::now() + Duration::from_millis(20);
    let late = fetcher.fetch(FetchRequest::get(server.url("/")).with_deadline(soon)).await;
    assert!(matches!(late, Err(FetchError::TimedOut { .. })), "{late:?}");
}

/// A server that is busy the first time, and how often it was asked.
async fn busy(
    retry_after: &'static str,
    method: &str,
    time: Duration,
) -> (u16, usize, Option<u64>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let server = WebServer::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Answer::new(429, &[("Retry-After", retry_after)], "busy"),
        _ => Answer::html("x"),
    })
    .unwrap();
    let request = FetchRequest::get(server.url("/"))
        .with_method(method)
        .unwrap()
        .with_deadline(Instant::now() + time);
    let fetched = fetcher(&allowing(&[&server])).fetch(request).await.unwrap();
    let after = fetched.retry_after.map(|after| after.as_secs());
    (fetched.status.as_u16(), asked.load(Ordering::SeqCst), after)
}

#[tokio::test]
async fn a_busy_server_is_asked_once_more_when_it_says_and_there_is_time() {
    let long = Duration::from_secs(20);
    assert_eq!(busy("1", "GET", long).await, (200, 2, None));
    assert_eq!(busy("86400", "GET", long).await, (429, 1, Some(86_400)));
    assert_eq!(busy("1", "POST", long).await, (429, 1, Some(1)));
    assert_eq!(busy("soon", "GET", long).await, (429, 1, None));
    assert_eq!(busy("Sun, 06 Nov 1994 08:49:37 GMT", "GET", long).await, (200, 2, None));
}

#[tokio::test]
async fn a_server_that_stays_busy_is_asked_twice() {
    let server = WebServer::always(Answer::new(503, &[("Retry-After", "0")], "busy")).unwrap();
    let fetched = fetcher(&allowing(&[&server])).fetch(FetchRequest::get(server.url("/"))).await;
    assert_eq!(fetched.unwrap().status.as_u16(), 503);
    assert_eq!(server.requests().len(), 2);
}

async fn with_robots(robots: Answer) -> Result<String, FetchError> {
    let server = WebServer::start(move |request| match request.target.as_str() {
        "/robots.txt" => robots.clone(),
        _ => Answer::html("page"),
    })
    .unwrap();
    let config = BrowserConfig { robots: true, first_byte_timeout_ms: 500, ..allowing(&[&server]) };
    let request = FetchRequest::get(server.url("/dir/page")).obeying_robots();
    let fetched = fetcher(&config).fetch(request).await?;
    Ok(String::from_utf8(fetched.body).unwrap())
}

#[tokio::test]
async fn robots_txt_is_obeyed_where_that_is_asked_for() {
    let text = |body: &str| Answer::of_type("text/plain", body);
    for allowed in [
        text("User-agent: *\nDisallow: /other\n"),
        text("User-agent: *\nDisallow: /\n\nUser-agent: remit\nDisallow: /other"),
        Answer::new(404, &[], "<html>not here</html>"),
        Answer::new(403, &[], "no"),
        Answer::redirect(301, "/robots.txt"),
    ] {
        let found = with_robots(allowed.clone()).await;
        assert_eq!(found.unwrap(), "page", "{allowed:?}");
    }
    for refused in [
        text("User-agent: *\nDisallow: /dir\n"),
        text("User-agent: Remit\nDisallow: /\n"),
        Answer::new(500, &[], "down"),
        Answer::html("<html>everything is fine</html>"),
        lies::silence(),
        lies::hang_up(),
        lies::another_protocol(),
    ] {
        let found = with_robots(refused.clone()).await;
        assert!(matches!(found, Err(FetchError::Robots { .. })), "{refused:?}: {found:?}");
    }
}

#[tokio::test]
async fn robots_txt_is_behind_the_same_guard() {
    let secret = WebServer::always(Answer::html("secret")).unwrap();
    let target = secret.url("/robots.txt");
    let found = with_robots(Answer::redirect(302, &target)).await;
    assert!(matches!(found, Err(FetchError::Robots { .. })), "{found:?}");
    assert_eq!(secret.connections(), 0);
}
