//! A selector's elements are the content.

use browser::{ExtractError, ExtractOptions, Extracted, extract};

use super::url;

const PAGE: &str = "<html><body class='a b'><h1 id=top>Top</h1><div class=card><p>one</p><p class=x>two</p></div>\
    <div class='card wide' data-kind='A-b'><p>three</p><span></span></div><ul><li>1<li>2<li>3<li>4</ul></body></html>";

fn select(selector: &str) -> Result<Extracted, ExtractError> {
    let options =
        ExtractOptions { selector: Some(selector.to_owned()), ..ExtractOptions::default() };
    extract(PAGE.as_bytes(), Some("text/html"), &url(), &options)
}

#[test]
fn selectors_find_their_elements() {
    for (selector, matches) in [
        ("p", 3),
        ("P", 3),
        ("*", 15),
        ("#top", 1),
        (".card", 2),
        ("div.card.wide > p", 1),
        ("div p, h1", 4),
        ("[data-kind]", 1),
        ("[data-kind='A-b']", 1),
        ("[data-kind=\"a-B\" i]", 1),
        ("[data-kind|=A]", 1),
        ("[class~=wide]", 1),
        ("[class^=card]", 2),
        ("[class$=wide]", 1),
        ("[class*=ar]", 2),
        ("p + p", 1),
        ("h1 ~ div", 2),
        ("div:has(> .x)", 1),
        ("div:not(.wide) p", 2),
        ("div:not(:has(.x), .none)", 1),
        (":is(h1, li)", 5),
        ("li:first-child", 1),
        ("li:nth-child(2n+1)", 2),
        ("li:nth-last-child(-n+2)", 2),
        ("p:last-of-type", 2),
        ("p:only-of-type", 1),
        ("span:empty", 1),
        (":root > body", 1),
        (r"#\74op", 1),
        ("nothing", 0),
    ] {
        assert_eq!(select(selector).unwrap().matches, Some(matches), "{selector}");
    }
}

#[test]
fn many_matches_are_joined_and_none_is_no_page() {
    let cards = select(".card").unwrap();
    assert_eq!(cards.content, "one\n\ntwo\n\n---\n\nthree");
    let none = select("article").unwrap();
    assert_eq!((none.content.as_str(), none.matches), ("", Some(0)));
}

#[test]
fn what_is_no_selector_is_an_error_that_says_where() {
    match select("p[").unwrap_err() {
        ExtractError::Selector { position, .. } => assert_eq!(position, 2),
        other => panic!("{other}"),
    }
    let options = ExtractOptions { selector: Some("p".to_owned()), ..ExtractOptions::default() };
    let json = extract(b"{}", Some("application/json"), &url(), &options);
    assert_eq!(json, Err(ExtractError::NoElements { kind: "json" }));
}
