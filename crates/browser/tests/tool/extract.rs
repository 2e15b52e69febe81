//! `extract`: the content of a page, whole or in parts.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use browser::BrowserConfig;
use serde_json::json;
use testkit::web::{Answer, WebServer};
use tool_core::Limits;

use crate::{
    common::allowing,
    support::{Tool, article, room},
};

#[tokio::test]
async fn the_main_content_is_given_in_the_form_that_is_asked_for() {
    let server = WebServer::always(Answer::html(article(3))).unwrap();
    let (tool, url) = (Tool::of(&server), server.url("/"));
    let markdown = tool.answer(json!({"op": "extract", "url": url})).await;
    assert!(markdown.inside().contains("[the next part](http"), "{}", markdown.text);
    assert!(!markdown.inside().contains("Home"), "{}", markdown.text);
    let text = tool.answer(json!({"op": "extract", "url": url, "format": "text"})).await;
    assert!(text.inside().contains("More in the next part."), "{}", text.text);
    let html = tool.answer(json!({"op": "extract", "url": url, "format": "html"})).await;
    assert!(html.inside().contains("<p>Paragraph 0"), "{}", html.text);
    assert!(!html.inside().contains("script"), "{}", html.text);
    assert!(markdown.facts.get("next_offset").is_none(), "{}", markdown.facts);
}

#[tokio::test]
async fn a_selector_gives_what_it_finds_and_nothing_else() {
    let server = WebServer::always(Answer::html(article(3))).unwrap();
    let (tool, url) = (Tool::of(&server), server.url("/"));
    let found = tool.answer(json!({"op": "extract", "url": url, "selector": "nav a"})).await;
    assert_eq!(found.facts["matches"], 1);
    assert!(found.inside().contains("Home") && !found.inside().contains("Paragraph"));
    let none = tool.answer(json!({"op": "extract", "url": url, "selector": "table"})).await;
    assert_eq!((&none.facts["matches"], &none.facts["content_bytes"]), (&json!(0), &json!(0)));
    let (kind, message) =
        tool.error(json!({"op": "extract", "url": url, "selector": "p[[" })).await;
    assert_eq!(kind, "invalid_arguments");
    assert!(message.contains("/selector"), "{message}");
}

/// A server whose page is another one each time.
fn changing() -> (WebServer, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&count);
    let server = WebServer::start(move |_| {
        let reading = asked.fetch_add(1, Ordering::SeqCst);
        let lines: String =
            (0..400).map(|line| format!("reading {reading} line {line}\n")).collect();
        Answer::of_type("text/plain; charset=utf-8", lines)
    })
    .unwrap();
    (server, count)
}

#[tokio::test]
async fn a_long_page_is_read_on_without_being_fetched_again() {
    let (server, count) = changing();
    let (tool, url) = (Tool::with(&allowing(&[&server]), room(3000)), server.url("/"));
    let (mut joined, mut offset, mut version) = (String::new(), 0, None::<String>);
    let total = loop {
        let mut arguments = json!({"op": "extract", "url": url, "offset": offset});
        if let Some(version) = &version {
            arguments["version"] = version.clone().into();
        }
        let answer = tool.answer(arguments).await;
        assert_eq!(answer.facts["offset"], offset);
        let part = answer.inside().trim_start_matches('\n');
        joined.push_str(part);
        version = Some(answer.facts["version"].as_str().unwrap().to_owned());
        match answer.facts.get("next_offset") {
            Some(next) => {
                let left = answer.facts["left_bytes"].as_u64().unwrap();
                offset = usize::try_from(next.as_u64().unwrap()).unwrap();
                assert_eq!(answer.facts["content_bytes"], left + offset as u64);
            }
            None => break answer.facts["content_bytes"].clone(),
        }
    };
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(total, joined.len());
    assert!(joined.lines().enumerate().all(|(at, line)| line == format!("reading 0 line {at}")));
}

#[tokio::test]
async fn readings_are_never_mixed() {
    let (server, count) = changing();
    let (tool, url) = (Tool::with(&allowing(&[&server]), room(3000)), server.url("/"));
    let first = tool.answer(json!({"op": "extract", "url": url})).await;
    let second = tool.answer(json!({"op": "extract", "url": url})).await;
    assert_eq!(count.load(Ordering::SeqCst), 2);
    assert_ne!(first.facts["version"], second.facts["version"]);
    let offset = first.facts["next_offset"].clone();
    for (version, expected) in [(&first, "reading 0"), (&second, "reading 1")] {
        let version = &version.facts["version"];
        let arguments = json!({"op": "extract", "url": url, "offset": offset, "version": version});
        let part = tool.answer(arguments).await;
        assert!(part.inside().lines().all(|line| line.starts_with(expected)), "{}", part.text);
    }
    // Without a version the last reading is meant.
    let last = tool.answer(json!({"op": "extract", "url": url, "offset": offset})).await;
    assert_eq!(last.facts["version"], second.facts["version"]);
    assert_eq!(count.load(Ordering::SeqCst), 2);
    for (url, version) in [(url.as_str(), "0000"), ("https://example.com/", "0000")] {
        let arguments = json!({"op": "extract", "url": url, "offset": 5, "version": version});
        let (kind, message) = tool.error(arguments).await;
        assert_eq!(kind, "invalid_arguments");
        assert!(message.contains("/version") && message.contains("offset 0"), "{message}");
    }
}

#[tokio::test]
async fn a_page_that_is_not_kept_any_more_is_read_anew_and_says_so() {
    let (server, count) = changing();
    let config = BrowserConfig { keep_secs: 0, ..allowing(&[&server]) };
    let tool = Tool::with(&config, room(3000));
    let url = server.url("/");
    tool.answer(json!({"op": "extract", "url": url})).await;
    let on = tool.answer(json!({"op": "extract", "url": url, "offset": 100})).await;
    assert_eq!((on.facts["read_anew"].clone(), count.load(Ordering::SeqCst)), (json!(true), 2));
}

#[tokio::test]
async fn parts_end_on_characters_and_past_the_end_there_is_nothing() {
    let text = "漢字かな交じり文".repeat(50);
    let body = text.clone();
    let server =
        WebServer::start(move |_| Answer::of_type("text/plain; charset=utf-8", &body)).unwrap();
    let (tool, url) = (Tool::of(&server), server.url("/"));
    let part = tool.answer(json!({"op": "extract", "url": url, "limit": 10, "offset": 4})).await;
    assert_eq!(part.facts["offset"], 3);
    assert_eq!(part.inside(), "字かな");
    let past = tool.answer(json!({"op": "extract", "url": url, "offset": 1_000_000})).await;
    assert_eq!(past.facts["content_bytes"], text.len());
    assert_eq!(past.inside(), "");
}

#[tokio::test]
async fn other_kinds_of_documents_are_what_they_are() {
    let check = async |content_type: &str, body: &[u8], kind: &str, part: &str| {
        let server = WebServer::always(Answer::of_type(content_type, body)).unwrap();
        let answer =
            Tool::of(&server).answer(json!({"op": "extract", "url": server.url("/")})).await;
        assert_eq!(answer.facts["kind"], kind, "{content_type}");
        assert!(answer.inside().contains(part), "{content_type}: {}", answer.text);
    };
    check("application/json", b"\xef\xbb\xbf{\"a\":[1,2]}", "json", "\"a\": [").await;
    check("application/problem+json", b"{\"title\":\"no\"}", "json", "\"title\": \"no\"").await;
    check("text/html", b"{\"a\":1}", "json", "\"a\": 1").await;
    check("text/markdown", b"# Title\n\n*x* <b>y</b>", "markdown", "# Title\n\n*x* <b>y</b>").await;
    check("text/plain", b"a <b> c", "text", "a <b> c").await;
    let feed = b"<rss version='2.0'><channel><title>News</title><item><title>One</title>\
        <link>https://example.com/1</link></item></channel></rss>";
    check("application/rss+xml", feed, "feed", "https://example.com/1").await;
    let xhtml = b"<html xmlns='http://www.w3.org/1999/xhtml'><head><title>X</title></head>\
        <body><p>Words of a paragraph.</p></body></html>";
    check("application/xhtml+xml", xhtml, "html", "Words of a paragraph.").await;
}

#[tokio::test]
async fn images_and_archives_are_refused_with_their_type() {
    let png = b"\x89PNG\r\n\x1a\n0000IHDR".as_slice();
    for (content_type, body, part) in
        [("image/png", png, "image/png"), ("application/zip", b"PK\x03\x04aaaaaaaa", "zip")]
    {
        let server = WebServer::always(Answer::of_type(content_type, body)).unwrap();
        let (kind, message) =
            Tool::of(&server).error(json!({"op": "extract", "url": server.url("/")})).await;
        assert_eq!(kind, "execution_failed");
        assert!(message.contains(part), "{message}");
    }
}

#[tokio::test]
async fn a_default_tool_gives_no_more_than_fits() {
    let server = WebServer::always(Answer::html(article(2000))).unwrap();
    for bytes in [2048, 10_000, 65_536] {
        let tool = Tool::with(&allowing(&[&server]), room(bytes));
        for arguments in [
            json!({"op": "extract", "url": server.url("/")}),
            json!({"op": "navigate", "url": server.url("/"), "links": true}),
            json!({"op": "api", "method": "GET", "url": server.url("/")}),
        ] {
            let output = tool.call(arguments).await.outcome.unwrap();
            assert!(output.len_bytes().0 <= bytes, "{bytes}");
        }
    }
    assert!(Limits::default().max_output().0 == 65_536);
}
