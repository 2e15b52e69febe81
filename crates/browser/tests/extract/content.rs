//! Titles, metadata, links, frames, refreshes, and pages that need scripts.

use std::time::Duration;

use super::{main_of, whole};

#[test]
fn a_title_is_found_where_it_is() {
    for (page, title) in [
        ("<title>A</title><title>B</title>", Some("A")),
        ("<title id=x data-a='>'>\n Long &amp;\tlong </title>", Some("Long & long")),
        ("<svg><title>icon</title></svg><h1>Real</h1>", Some("Real")),
        ("<title></title><meta property='og:title' content='From  meta'>", Some("From meta")),
        ("<p>x</p>", None),
    ] {
        assert_eq!(whole(page).title.as_deref(), title, "{page}");
    }
}

#[test]
fn metadata_is_what_the_page_says() {
    let page = r#"<html lang="de-AT"><link rel=canonical href="/canonical"><meta name=author content="Ada L.">
        <meta property="article:published_time" content="2024-02-03T04:05:06Z"><meta property="og:site_name" content="Site">
        <meta name=description content="Short."><p>x</p>"#;
    let found = whole(page).metadata;
    assert_eq!(found.author.as_deref(), Some("Ada L."));
    assert_eq!(found.date.as_deref(), Some("2024-02-03T04:05:06Z"));
    assert_eq!(found.language.as_deref(), Some("de-AT"));
    assert_eq!(found.canonical.map(String::from).as_deref(), Some("https://example.com/canonical"));
    assert_eq!(found.description.as_deref(), Some("Short."));
    assert_eq!(found.site.as_deref(), Some("Site"));
    let linked = r#"<script type="application/ld+json">{"@graph":[{"@type":"Organization","name":"O"},{"@type":"NewsArticle",
        "datePublished":"2024-01-01","author":[{"name":"A"},{"name":"B"}]}]}</script>"#;
    let found = whole(linked).metadata;
    assert_eq!(
        (found.author.as_deref(), found.date.as_deref()),
        (Some("A, B"), Some("2024-01-01"))
    );
}

#[test]
fn links_are_absolute_and_each_address_is_once() {
    let page = "<a href=a>one</a><a href=a>again</a><a href='javascript:x'>no</a><div hidden><a href=h>no</a></div>\
        <a href=b><img alt='an image' src=i></a>";
    let links = whole(page).links;
    let links: Vec<_> = links.iter().map(|link| (link.text.as_str(), link.url.path())).collect();
    assert_eq!(links, [("one", "/docs/a"), ("an image", "/docs/b")]);
}

#[test]
fn frames_and_refreshes_are_reported() {
    let page = "<meta http-equiv=refresh content='0; url=next'><meta http-equiv=Refresh content=\"30;URL='http://10.0.0.1/'\">\
        <meta http-equiv=refresh content=5><iframe src=/inner></iframe><iframe src='javascript:x'></iframe>";
    let extracted = whole(page);
    let refreshes: Vec<_> = extracted.refreshes.iter().map(|r| (r.after, r.url.as_str())).collect();
    let next = (Duration::ZERO, "https://example.com/docs/next");
    assert_eq!(refreshes, [next, (Duration::from_secs(30), "http://10.0.0.1/")]);
    assert_eq!(extracted.frames.iter().map(|url| url.path()).collect::<Vec<_>>(), ["/inner"]);
    let set = "<frameset cols=50%,50%><frame src=left><frame src=right></frameset>";
    assert_eq!(whole(set).frames.len(), 2);
}

#[test]
fn a_shell_for_scripts_is_said_to_be_one() {
    let shell = "<title>App</title><div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript>\
        <script src=/app.js></script>";
    assert!(main_of(shell).needs_javascript);
    let page = format!(
        "<script src=x></script><article>{}</article>",
        "<p>Real words of a real page here.</p>".repeat(20)
    );
    assert!(!main_of(&page).needs_javascript);
    assert!(!main_of("<p>A short page.</p>").needs_javascript);
}

#[test]
fn text_of_an_article_that_only_linked_data_has_is_given() {
    let body = "Sentence after sentence of the article. ".repeat(20);
    let page = format!(
        "<div id=root></div><script type='application/ld+json'>{{\"@type\":\"Article\",\"articleBody\":\"{body}\"}}</script>"
    );
    let extracted = main_of(&page);
    assert!(extracted.content.starts_with("Sentence after sentence"));
    assert!(extracted.needs_javascript && extracted.unfiltered);
}
