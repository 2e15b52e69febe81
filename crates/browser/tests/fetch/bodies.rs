//! Bodies: what they are encoded in, how long they may be, and what goes out with a request.

use std::io::Write;

use browser::{BrowserConfig, FetchError, FetchRequest};
use flate2::{Compression, write::GzEncoder};
use testkit::web::{Answer, WebServer};

use crate::common::{allowing, fetcher};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_bomb_gives_no_more_than_its_ceiling() {
    let bomb = gzip(&vec![0; 32 << 20]);
    let bombs = [("gzip", bomb.clone()), ("gzip, gzip", gzip(&bomb))];
    for (encoding, body) in bombs {
        let server =
            WebServer::always(Answer::new(200, &[("Content-Encoding", encoding)], &body)).unwrap();
        let fetched =
            fetcher(&allowing(&[&server])).fetch(FetchRequest::get(server.url("/"))).await;
        let fetched = fetched.unwrap();
        assert_eq!(fetched.body.len(), 512 << 10, "{encoding}");
        assert_eq!(fetched.wire_bytes, body.len() as u64);
        assert!(fetched.is_truncated);
    }
}

#[tokio::test]
async fn an_encoding_that_was_not_offered_is_refused() {
    for encoding in ["br", "compress", "gzip, gzip, gzip", "x\u{e4}"] {
        let answer = Answer::new(200, &[("Content-Encoding", encoding)], "x");
        let server = WebServer::always(answer).unwrap();
        let fetched =
            fetcher(&allowing(&[&server])).fetch(FetchRequest::get(server.url("/"))).await;
        assert!(matches!(fetched, Err(FetchError::Encoding { .. })), "{encoding}: {fetched:?}");
        assert_eq!(server.requests()[0].header("accept-encoding"), Some("gzip, deflate, zstd"));
    }
}

#[tokio::test]
async fn head_and_empty_answers_have_no_body_to_decode() {
    let server = WebServer::start(|request| match request.method.as_str() {
        "HEAD" => {
            Answer::raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\nContent-Encoding: br\r\n\r\n")
        }
        _ => Answer::raw("HTTP/1.1 204 No\r\nContent-Encoding: gzip\r\n\r\n"),
    })
    .unwrap();
    let fetcher = fetcher(&allowing(&[&server]));
    for method in ["head", "GET"] {
        let request = FetchRequest::get(server.url("/")).with_method(method).unwrap();
        let fetched = fetcher.fetch(request).await.unwrap();
        assert!(fetched.body.is_empty() && !fetched.is_incomplete, "{method}");
    }
}

#[tokio::test]
async fn a_document_that_cannot_be_cut_has_a_ceiling_of_its_own() {
    let body = vec![b'x'; 600 << 10];
    let server = WebServer::always(Answer::of_type("application/pdf; x=y", &body)).unwrap();
    let fetcher = fetcher(&allowing(&[&server]));
    let whole = fetcher.fetch(FetchRequest::get(server.url("/")).for_reading()).await.unwrap();
    assert!(!whole.is_truncated && whole.body.len() == body.len());
    let cut = fetcher.fetch(FetchRequest::get(server.url("/"))).await.unwrap();
    assert!(cut.is_truncated && cut.body.len() == 512 << 10);
}

#[tokio::test]
async fn a_request_is_sent_as_it_was_meant() {
    let server = WebServer::always(Answer::html("x")).unwrap();
    let config = BrowserConfig { user_agent: Some("mine/2".to_owned()), ..allowing(&[&server]) };
    let request = FetchRequest::get(server.url("/a|b?c={d}&e=ä#part"))
        .with_method("post")
        .unwrap()
        .with_header("X-One", "1")
        .unwrap()
        .with_header("accept", "application/json")
        .unwrap()
        .with_body("ä body");
    fetcher(&config).fetch(request).await.unwrap();
    let seen = &server.requests()[0];
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/a%7Cb?c=%7Bd%7D&e=%C3%A4"));
    assert_eq!(seen.body, "ä body".as_bytes());
    let mut names: Vec<_> = seen.headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let expected = [
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "host",
        "user-agent",
        "x-one",
    ];
    assert_eq!(names, expected);
    assert_eq!(seen.header("host"), Some(server.host().as_str()));
    assert_eq!(seen.header("accept"), Some("application/json"));
    assert_eq!(seen.header("user-agent"), Some("mine/2"));
}
