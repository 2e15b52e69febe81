//! Nothing that a caller or a server entrusted to one origin reaches another.

use browser::{CookieJar, FetchError, FetchRequest};
use testkit::web::{Answer, WebServer};

use crate::common::{allowing, fetcher};

const SECRETS: [(&str, &str); 4] = [
    ("Authorization", "Bearer one"),
    ("Cookie", "two=2"),
    ("X-Api-Key", "three"),
    ("X-Anything", "four"),
];

#[tokio::test]
async fn no_header_of_a_caller_and_no_referer_crosses_an_origin() {
    let other = WebServer::always(Answer::html("there")).unwrap();
    let there = other.url("/there");
    let server = WebServer::start(move |request| match request.target.as_str() {
        "/first" => Answer::redirect(302, "/second"),
        _ => Answer::redirect(302, &there),
    })
    .unwrap();
    let mut request = FetchRequest::get(server.url("/first"));
    for (name, value) in SECRETS {
        request = request.with_header(name, value).unwrap();
    }
    let fetched = fetcher(&allowing(&[&server, &other])).fetch(request).await.unwrap();
    assert_eq!(fetched.body, b"there");
    assert_eq!(fetched.redirects.len(), 2);
    for (name, value) in SECRETS {
        let name = name.to_lowercase();
        for seen in server.requests() {
            assert_eq!(seen.header(&name), Some(value), "{name}");
        }
        assert_eq!(other.requests()[0].header(&name), None, "{name}");
    }
    let names: Vec<_> = other.requests()[0].headers.iter().map(|(name, _)| name.clone()).collect();
    assert!(!names.iter().any(|name| name == "referer"), "{names:?}");
}

#[tokio::test]
async fn a_body_is_not_sent_on_to_another_origin() {
    let other = WebServer::always(Answer::html("there")).unwrap();
    let there = other.url("/");
    let server = WebServer::start(move |_| Answer::redirect(307, &there)).unwrap();
    let request =
        FetchRequest::get(server.url("/")).with_method("POST").unwrap().with_body("secret");
    let error = fetcher(&allowing(&[&server, &other])).fetch(request).await.unwrap_err();
    assert!(matches!(error, FetchError::ForwardedRequest { .. }), "{error}");
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_body_is_sent_again_at_its_own_origin() {
    for (status, method) in [(307, "POST"), (308, "POST"), (303, "GET"), (302, "GET"), (301, "GET")]
    {
        let server = WebServer::start(move |request| match request.target.as_str() {
            "/a" => Answer::redirect(status, "/b"),
            _ => Answer::html("done"),
        })
        .unwrap();
        let request = FetchRequest::get(server.url("/a"))
            .with_method("POST")
            .unwrap()
            .with_header("content-type", "text/plain")
            .unwrap()
            .with_body("again");
        fetcher(&allowing(&[&server])).fetch(request).await.unwrap();
        let second = &server.requests()[1];
        assert_eq!(second.method, method, "{status}");
        let is_kept = method == "POST";
        assert_eq!(second.body == b"again", is_kept, "{status}");
        assert_eq!(second.header("content-type").is_some(), is_kept, "{status}");
    }
}

#[tokio::test]
async fn cookies_last_for_a_session_and_no_longer() {
    let server = WebServer::start(|request| match request.target.as_str() {
        "/login" => Answer::new(302, &[("Set-Cookie", "id=7; Path=/"), ("Location", "/in")], ""),
        _ => Answer::html(request.header("cookie").unwrap_or("none")),
    })
    .unwrap();
    let fetcher = fetcher(&allowing(&[&server]));
    let get = |path: &str| FetchRequest::get(server.url(path));
    assert_eq!(fetcher.fetch(get("/login")).await.unwrap().body, b"id=7");
    assert_eq!(fetcher.fetch(get("/in")).await.unwrap().body, b"none");

    let mut jar = CookieJar::default();
    fetcher.fetch_in(get("/login"), &mut jar).await.unwrap();
    assert_eq!(fetcher.fetch_in(get("/in"), &mut jar).await.unwrap().body, b"id=7");
    assert_eq!(
        fetcher.fetch_in(get("/in"), &mut CookieJar::default()).await.unwrap().body,
        b"none"
    );
}
