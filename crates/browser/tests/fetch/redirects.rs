//! Redirects: followed to an end, counted, and left alone where they lead nowhere.

use browser::{BrowserConfig, FetchError, FetchRequest};
use testkit::web::{Answer, WebServer};

use crate::common::{allowing, fetcher};

#[tokio::test]
async fn circles_and_long_ways_end() {
    let server = WebServer::start(|request| match request.target.as_str() {
        "/self" => Answer::redirect(302, "/self"),
        "/a" => Answer::redirect(301, "/b"),
        "/b" => Answer::redirect(308, "/a"),
        way => {
            let left: u64 = way[1..].parse().unwrap();
            match left {
                0 => Answer::html("there"),
                left => Answer::redirect(302, &format!("/{}", left - 1)),
            }
        }
    })
    .unwrap();
    let fetcher = fetcher(&allowing(&[&server]));
    for (path, expected) in [("/self", true), ("/a", true), ("/20", false)] {
        match fetcher.fetch(FetchRequest::get(server.url(path))).await {
            Err(FetchError::TooManyRedirects { max: 10, is_loop }) => {
                assert_eq!(is_loop, expected, "{path}");
            }
            other => panic!("{path}: {other:?}"),
        }
    }
    let fetched = fetcher.fetch(FetchRequest::get(server.url("/10"))).await.unwrap();
    assert_eq!((fetched.redirects.len(), fetched.body.as_slice()), (10, &b"there"[..]));
    assert_eq!(fetched.url.path(), "/0");
    assert_eq!(fetched.redirects[0].url.path(), "/10");

    let none = BrowserConfig { max_redirects: 0, ..allowing(&[&server]) };
    assert!(
        crate::common::fetcher(&none).fetch(FetchRequest::get(server.url("/1"))).await.is_err()
    );
}

#[tokio::test]
async fn what_leads_nowhere_is_the_answer_itself() {
    for answer in [
        Answer::new(302, &[], "no target"),
        Answer::redirect(302, "http://["),
        Answer::redirect(302, ""),
        Answer::redirect(300, "/elsewhere"),
        Answer::new(304, &[("Location", "/elsewhere")], ""),
    ] {
        let server = WebServer::start(move |request| match request.target.as_str() {
            "/" => answer.clone(),
            _ => Answer::html("elsewhere"),
        })
        .unwrap();
        let fetched =
            fetcher(&allowing(&[&server])).fetch(FetchRequest::get(server.url("/"))).await;
        match fetched {
            Ok(fetched) => assert!(fetched.status.is_redirection(), "{fetched:?}"),
            // An empty target is the page itself.
            Err(error) => assert!(matches!(error, FetchError::TooManyRedirects { .. }), "{error}"),
        }
    }
}

#[tokio::test]
async fn a_target_in_utf_8_is_encoded_and_the_fragment_stays() {
    let server = WebServer::start(|request| match request.target.as_str() {
        "/" => Answer::redirect(302, "/ä ö?ü"),
        target => Answer::html(target),
    })
    .unwrap();
    let url = server.url("/#part");
    let fetched = fetcher(&allowing(&[&server])).fetch(FetchRequest::get(url)).await.unwrap();
    assert_eq!(fetched.body, b"/%C3%A4%20%C3%B6?%C3%BC");
    assert_eq!(fetched.url.fragment(), Some("part"));
}
