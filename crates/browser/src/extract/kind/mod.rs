//! What kind of document some bytes are: by their first bytes, and by what the server says.
//!
//! First bytes that only one format has win over the server's word, since a wrong word is common and a
//! PNG is no text whatever it is called. Between forms of text the server's word counts, but for JSON
//! and feeds that are called HTML. What holds no text is refused with its type.

mod magic;

use super::{error::ExtractError, extracted::Kind};

/// Bytes that a look at the content takes.
const SNIFFED: usize = 1024;

/// The kind of a document.
///
/// # Errors
///
/// Where it holds no text.
pub(super) fn find(bytes: &[u8], content_type: Option<&str>) -> Result<Kind, ExtractError> {
    let head = bytes.get(..SNIFFED).unwrap_or(bytes);
    if head.windows(5).any(|window| window == b"%PDF-") {
        return Ok(Kind::Pdf);
    }
    if let Some(media_type) = magic::find(head) {
        return Err(not_text(media_type));
    }
    let declared = content_type.map(essence).filter(|essence| !essence.is_empty());
    match declared.as_deref() {
        Some(media_type) => by_type(media_type, head),
        None => by_content(head),
    }
}

fn not_text(media_type: &str) -> ExtractError {
    ExtractError::NotText { media_type: media_type.chars().take(100).collect() }
}

/// The media type without its parameters, in lower case.
fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn by_type(media_type: &str, head: &[u8]) -> Result<Kind, ExtractError> {
    let (top, sub) = media_type.split_once('/').unwrap_or((media_type, ""));
    match (top, sub) {
        ("image" | "audio" | "video" | "font" | "model", _) => Err(not_text(media_type)),
        ("application", "octet-stream" | "x-octet-stream" | "unknown") | ("unknown", _) => {
            by_content(head).map_err(|_| not_text(media_type))
        }
        ("application", "pdf") => Err(ExtractError::Pdf { problem: "it does not begin as one" }),
        (_, "html" | "xhtml+xml" | "x-server-parsed-html") => Ok(match by_text(head) {
            kind @ (Kind::Json | Kind::JsonLines | Kind::Feed) => kind,
            _ => Kind::Html,
        }),
        (_, "markdown" | "x-markdown") => Ok(Kind::Markdown),
        (_, "x-ndjson" | "ndjson" | "jsonl" | "x-jsonlines" | "json-seq") => Ok(Kind::JsonLines),
        (_, "json") => Ok(Kind::Json),
        (_, sub) if sub.ends_with("+json") => Ok(Kind::Json),
        (_, "rss+xml" | "atom+xml" | "rdf+xml") => Ok(Kind::Feed),
        (_, "xml") => Ok(xml(head)),
        (_, sub) if sub.ends_with("+xml") => Ok(xml(head)),
        ("text", _) => Ok(Kind::Text),
        ("application", sub) if is_textual(sub) => Ok(Kind::Text),
        _ => by_content(head).map_err(|_| not_text(media_type)),
    }
}

fn is_textual(sub: &str) -> bool {
    matches!(
        sub,
        "javascript"
            | "x-javascript"
            | "ecmascript"
            | "typescript"
            | "toml"
            | "yaml"
            | "x-yaml"
            | "sql"
            | "x-sh"
            | "graphql"
            | "x-httpd-php"
            | "x-tex"
            | "x-www-form-urlencoded"
    )
}

fn by_content(head: &[u8]) -> Result<Kind, ExtractError> {
    let wide = matches!(head, [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] | [b'<', 0, ..] | [0, b'<', ..]);
    if head.contains(&0) && !wide {
        return Err(not_text("application/octet-stream"));
    }
    Ok(by_text(head))
}

fn by_text(head: &[u8]) -> Kind {
    let narrow: Vec<u8> = head.iter().copied().filter(|&byte| byte != 0 && byte < 0x80).collect();
    let text = narrow.trim_ascii_start();
    match text {
        [b'{' | b'[', ..] if looks_like_json(text) => Kind::Json,
        [b'<', b'?', ..] => xml(text),
        _ if find_word(text, b"<rss") == Some(0) || find_word(text, b"<feed") == Some(0) => {
            Kind::Feed
        }
        [b'<', next, ..] if next.is_ascii_alphabetic() || *next == b'!' => Kind::Html,
        _ if find_word(text, b"<html").or_else(|| find_word(text, b"<body")).is_some() => {
            Kind::Html
        }
        _ => Kind::Text,
    }
}

/// Whether what comes after the first bracket can be JSON. `[1]` in prose and templates can't.
fn looks_like_json(text: &[u8]) -> bool {
    let (first, rest) = text.split_at(1);
    match (first, rest.trim_ascii_start().first()) {
        (b"{", Some(b'"' | b'}')) => true,
        (b"[", Some(next)) => {
            next.is_ascii_digit() || matches!(next, b'"' | b'{' | b'[' | b']' | b'-')
        }
        _ => false,
    }
}

fn xml(head: &[u8]) -> Kind {
    let at = |word| find_word(head, word);
    let html = at(b"<html").is_some();
    if at(b"<rss").is_some() || at(b"<feed").is_some() || at(b"<rdf:rdf").is_some() {
        Kind::Feed
    } else if html {
        Kind::Html
    } else {
        Kind::Xml
    }
}

fn find_word(text: &[u8], word: &[u8]) -> Option<usize> {
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| !byte.is_ascii_alphanumeric());
    let mut windows = text.windows(word.len()).enumerate();
    let found = windows
        .find(|(at, window)| window.eq_ignore_ascii_case(word) && ends(text.get(at + word.len())));
    found.map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_found_from_bytes_and_type() {
        for (bytes, media_type, kind) in [
            ("<p>x", Some("text/html; charset=utf-8"), Kind::Html),
            ("<p>x", Some("text/plain"), Kind::Text),
            ("# x", Some("text/markdown"), Kind::Markdown),
            ("{\"a\":1}", Some("text/html"), Kind::Json),
            ("{\"a\":1}", Some("application/problem+json"), Kind::Json),
            ("{\"a\":1}\n{}", Some("application/x-ndjson"), Kind::JsonLines),
            ("{{ template }}<p>", Some("text/html"), Kind::Html),
            ("<?xml version='1.0'?><rss version='2.0'>", Some("text/html"), Kind::Feed),
            ("<?xml version='1.0'?><feed xmlns='x'>", Some("application/xml"), Kind::Feed),
            ("<?xml version='1.0'?><note/>", Some("text/xml"), Kind::Xml),
            ("<?xml version='1.0'?><html>", Some("application/xhtml+xml"), Kind::Html),
            ("%PDF-1.4", Some("text/html"), Kind::Pdf),
            ("  <!DOCTYPE html>", None, Kind::Html),
            ("just words", None, Kind::Text),
            ("[1] a note", None, Kind::Json),
            ("fn main() {}", Some("application/octet-stream"), Kind::Text),
        ] {
            assert_eq!(find(bytes.as_bytes(), media_type), Ok(kind), "{bytes} {media_type:?}");
        }
    }

    #[test]
    fn what_holds_no_text_is_refused_with_its_type() {
        for (bytes, media_type, refused) in [
            (&b"\x89PNG\r\n\x1a\n"[..], Some("text/html"), "image/png"),
            (b"PK\x03\x04....", None, "application/zip"),
            (b"<svg/>", Some("image/svg+xml"), "image/svg+xml"),
            (b"x", Some("Video/MP4"), "video/mp4"),
            (b"a\0b", Some("application/x-thing"), "application/x-thing"),
            (b"a\0b", None, "application/octet-stream"),
        ] {
            let error = ExtractError::NotText { media_type: refused.to_owned() };
            assert_eq!(find(bytes, media_type), Err(error));
        }
    }
}
