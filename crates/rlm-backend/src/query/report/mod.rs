//! A trajectory as one page that a browser shows from a file: a tree of queries, turns, code and
//! sub-calls, with time and tokens to scale.
//!
//! The page holds everything it needs and may load nothing: its content security policy allows only
//! its own script and style, by their digests. What models, code and files said is data in it, and the
//! script only ever sets it as text.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{QueryEvent, QueryRecord};
use crate::base64;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of a trajectory. Where it was resumed, that of its last run.
#[must_use]
pub fn render_report(records: &[QueryRecord]) -> String {
    let is_first =
        |record: &QueryRecord| matches!(record.event, QueryEvent::Begin { query: 0, .. });
    let from = records.iter().rposition(is_first).unwrap_or(0);
    let data = json!(records.get(from..).unwrap_or_default()).to_string();
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        source(STYLE),
        source(SCRIPT)
    );
    let parts = [
        ("policy", policy.as_str()),
        ("style", STYLE),
        ("data", &escaped(&data)),
        ("script", SCRIPT),
    ];
    let mut page = String::new();
    let mut rest = PAGE;
    // Each place once and in order, so that nothing in the data is taken for a place.
    for (name, part) in parts {
        let place = format!("{{{{{name}}}}}");
        if let Some((before, after)) = rest.split_once(&place) {
            page.push_str(before);
            page.push_str(part);
            rest = after;
        }
    }
    page + rest
}

/// JSON that ends no element and begins no comment of HTML, and stands on one line.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for it in json.chars() {
        match it {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            it => text.push(it),
        }
    }
    text
}

/// How a policy names a script or a style by its digest.
fn source(text: &str) -> String {
    format!("sha256-{}", base64::encode(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> QueryRecord {
        let event = QueryEvent::Note { query: 0, turn: 1, text: text.to_owned() };
        QueryRecord { at_ms: 1.5, event }
    }

    fn data_of(page: &str) -> &str {
        let (_, rest) = page.split_once("id=\"data\">").unwrap();
        rest.split_once("</script>").unwrap().0
    }

    #[test]
    fn hostile_texts_stay_data() {
        let hostile =
            "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\u{2028}{{script}}";
        let records = [note(hostile)];
        let page = render_report(&records);
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<img") && !page.contains("<!--"));
        let read: Vec<QueryRecord> = serde_json::from_str(data_of(&page)).unwrap();
        assert_eq!(read, records);
    }

    #[test]
    fn the_page_loads_nothing_and_holds_no_place_that_was_not_filled() {
        let page = render_report(&[]);
        for part in ["http:", "https:", "src=", "href=", "{{", "@import", "url("] {
            assert!(!page.contains(part), "{part}");
        }
        assert!(page.contains("default-src 'none'"));
        assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("insertAdjacent"));
    }
}
