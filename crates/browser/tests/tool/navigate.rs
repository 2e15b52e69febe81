//! `navigate`: what is at a URL.

use serde_json::json;
use testkit::web::{Answer, WebServer};

use crate::support::{Tool, article};

#[tokio::test]
async fn a_page_is_described_and_shown_from_its_beginning() {
    let server = WebServer::always(Answer::html(article(5))).unwrap();
    let url = server.url("/rain");
    let answer = Tool::of(&server).answer(json!({"op": "navigate", "url": url})).await;
    let facts = &answer.facts;
    assert_eq!(facts["status"], 200);
    assert_eq!(facts["url"], url);
    assert_eq!(facts["content_type"], "text/html");
    assert_eq!(facts["charset"], "UTF-8");
    assert_eq!(facts["bytes"], article(5).len());
    assert!(facts.get("redirects").is_none() && facts.get("truncated").is_none(), "{facts}");
    let text = answer.inside();
    assert!(text.starts_with("title: Rain in the hills\nauthor: A. Writer\n"), "{text}");
    assert!(text.contains("Paragraph 4 of the article"), "{text}");
    assert!(!text.contains("secret") && !text.contains("<p>"), "{text}");
}

#[tokio::test]
async fn links_are_listed_where_they_are_wanted() {
    let server = WebServer::always(Answer::html(article(1))).unwrap();
    let (tool, url) = (Tool::of(&server), server.url("/dir/rain"));
    let answer = tool.answer(json!({"op": "navigate", "url": url, "links": true})).await;
    let link = format!("- [the next part]({})", server.url("/dir/next?a=1#b"));
    assert!(answer.inside().contains(&link), "{}", answer.text);
    assert_eq!(answer.facts["links"], 2);
    let without = tool.answer(json!({"op": "navigate", "url": url})).await;
    assert!(without.facts.get("links").is_none());
}

#[tokio::test]
async fn redirects_are_told_and_an_error_status_is_a_result() {
    let server = WebServer::start(|request| match request.target.as_str() {
        "/a" => Answer::redirect(301, "/b"),
        "/b" => Answer::redirect(302, "/c"),
        _ => Answer::new(404, &[("Content-Type", "text/html")], "<title>Gone</title><p>Not here."),
    })
    .unwrap();
    let answer = Tool::of(&server).answer(json!({"op": "navigate", "url": server.url("/a")})).await;
    assert_eq!(answer.facts["status"], 404);
    assert_eq!(answer.facts["url"], server.url("/c"));
    let hops = json!([
        {"url": server.url("/a"), "status": 301},
        {"url": server.url("/b"), "status": 302},
    ]);
    assert_eq!(answer.facts["redirects"], hops);
    assert!(answer.inside().contains("title: Gone"), "{}", answer.text);
}

#[tokio::test]
async fn what_has_no_text_is_named_by_its_type() {
    let png = b"\x89PNG\r\n\x1a\n0000IHDR".to_vec();
    let server = WebServer::always(Answer::of_type("image/png", png)).unwrap();
    let answer = Tool::of(&server).answer(json!({"op": "navigate", "url": server.url("/")})).await;
    assert_eq!(answer.facts["content_type"], "image/png");
    assert!(answer.facts["no_text"].as_str().unwrap().contains("image/png"), "{}", answer.facts);
    assert_eq!(answer.text, "");
}

#[tokio::test]
async fn a_refresh_is_told_and_not_followed() {
    let secret = WebServer::always(Answer::html("secret")).unwrap();
    let target = secret.url("/inner");
    let page = format!(
        "<html><head><meta http-equiv=\"refresh\" content=\"0; url={target}\"></head><body>\
         <p>You are being sent on.</p><iframe src=\"/frame\"></iframe></body></html>"
    );
    let server = WebServer::always(Answer::html(page)).unwrap();
    let answer = Tool::of(&server).answer(json!({"op": "navigate", "url": server.url("/")})).await;
    assert_eq!(answer.facts["refreshes"], json!([{"url": target, "after_s": 0}]));
    assert_eq!(answer.facts["frames"], json!([server.url("/frame")]));
    assert_eq!((secret.connections(), server.requests().len()), (0, 1));
}

#[tokio::test]
async fn a_host_that_is_not_there_is_an_error_that_says_so() {
    let server = WebServer::always(Answer::html("x")).unwrap();
    let (tool, url) = (Tool::of(&server), server.url("/"));
    drop(server);
    let (kind, message) = tool.error(json!({"op": "navigate", "url": url})).await;
    assert_eq!(kind, "execution_failed");
    assert!(message.contains("can't be reached"), "{message}");
    let unknown = json!({"op": "navigate", "url": "https://gone.test/"});
    let (kind, message) = tool.error(unknown).await;
    assert_eq!(kind, "execution_failed");
    assert!(message.contains("can't be resolved"), "{message}");
}

#[tokio::test]
async fn a_url_that_is_refused_is_an_argument_that_does_not_fit() {
    let server = WebServer::always(Answer::html("x")).unwrap();
    let tool = Tool::of(&server);
    for (url, part) in [
        ("http://169.254.169.254/latest/meta-data/", "a metadata service"),
        ("http://localhost/", "one label"),
        ("file:///etc/passwd", "http and https are accepted"),
        ("http://user:password@example.com/", "user name"),
        ("example.com", "http://"),
        ("http://example.com:22/", "443"),
    ] {
        let (kind, message) = tool.error(json!({"op": "navigate", "url": url})).await;
        assert_eq!(kind, "invalid_arguments", "{url}");
        assert!(message.contains("/url") && message.contains(part), "{url}: {message}");
    }
    assert_eq!(server.connections(), 0);
}
