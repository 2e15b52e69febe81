//! The prescan of the HTML standard: the encoding that the first bytes of a document declare.
//!
//! Source: HTML standard, 13.2.3.2 «prescan a byte stream to determine its encoding»; for XML the
//! declaration's `encoding`.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::of_label;

/// Bytes that the standard looks at.
pub(in crate::extract) const EARLY: usize = 1024;
/// Bytes in which a browser would come upon a declaration while it parses.
pub(in crate::extract) const LATE: usize = 64 * 1024;

/// The encoding that the first `length` bytes declare.
pub(in crate::extract) fn prescan(bytes: &[u8], length: usize) -> Option<&'static Encoding> {
    let bytes = bytes.get(..length).unwrap_or(bytes);
    xml_declaration(bytes)
        .or_else(|| Scan { bytes, at: 0 }.run())
        .map(|encoding| if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

fn xml_declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    let rest = bytes.strip_prefix(b"<?xml")?;
    let end = rest.iter().position(|&byte| byte == b'>')?;
    let declaration = rest.get(..end)?;
    let at = declaration.windows(8).position(|window| window == b"encoding")?;
    let rest = declaration.get(at + 8..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (&quote, rest) = rest.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    let end = rest.iter().position(|&byte| byte == quote)?;
    of_label(rest.get(..end)?)
}

/// A place in the bytes.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn run(mut self) -> Option<&'static Encoding> {
        while self.at < self.bytes.len() {
            let rest = &self.bytes[self.at..];
            if rest.starts_with(b"<!--") {
                self.skip_comment();
            } else if is_meta(rest) {
                self.at += 5;
                if let Some(encoding) = self.meta() {
                    return Some(encoding);
                }
            } else if is_tag(rest) {
                self.skip_tag();
            } else if matches!(rest, [b'<', b'!' | b'/' | b'?', ..]) {
                self.skip_past(b'>');
            }
            self.at += 1;
        }
        None
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Leaves the place on the `>` of the comment's end. The dashes of `-->` may be those of `<!--`.
    fn skip_comment(&mut self) {
        let rest = self.bytes.get(self.at + 2..).unwrap_or_default();
        let end = rest.windows(3).position(|window| window == b"-->");
        self.at = end.map_or(self.bytes.len(), |end| self.at + 2 + end + 2);
    }

    fn skip_past(&mut self, wanted: u8) {
        while self.peek().is_some_and(|byte| byte != wanted) {
            self.at += 1;
        }
    }

    fn skip_tag(&mut self) {
        while self.peek().is_some_and(|byte| !byte.is_ascii_whitespace() && byte != b'>') {
            self.at += 1;
        }
        while self.attribute().is_some() {}
    }

    /// The encoding of a `meta` whose name was read.
    fn meta(&mut self) -> Option<&'static Encoding> {
        let mut names: Vec<Vec<u8>> = Vec::new();
        let mut pragma = false;
        let mut needs_pragma = None;
        let mut charset = None;
        while let Some((name, value)) = self.attribute() {
            if names.contains(&name) {
                continue;
            }
            match name.as_slice() {
                b"http-equiv" => pragma = pragma || value == b"content-type",
                b"content" if charset.is_none() => {
                    if let Some(found) = of_content(&value) {
                        (charset, needs_pragma) = (Some(Some(found)), Some(true));
                    }
                }
                b"charset" => (charset, needs_pragma) = (Some(label(&value)), Some(false)),
                _ => {}
            }
            names.push(name);
        }
        let is_whole = self.peek() == Some(b'>');
        if !is_whole || (needs_pragma? && !pragma) {
            return None;
        }
        charset.flatten()
    }

    /// The next attribute of a tag, in lower case; none at the tag's end.
    fn attribute(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace() || byte == b'/') {
            self.at += 1;
        }
        if self.peek()? == b'>' {
            return None;
        }
        let mut name = Vec::new();
        loop {
            match self.peek()? {
                b'=' if !name.is_empty() => break,
                b'/' | b'>' => return Some((name, Vec::new())),
                byte if byte.is_ascii_whitespace() => {
                    self.skip_space();
                    if self.peek()? != b'=' {
                        return Some((name, Vec::new()));
                    }
                    break;
                }
                byte => name.push(byte.to_ascii_lowercase()),
            }
            self.at += 1;
        }
        self.at += 1;
        self.skip_space();
        Some((name, self.value()?))
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        let quote = Some(self.peek()?).filter(|byte| matches!(byte, b'"' | b'\''));
        if quote.is_some() {
            self.at += 1;
        }
        loop {
            let byte = self.peek()?;
            match quote {
                Some(quote) if byte == quote => {
                    self.at += 1;
                    return Some(value);
                }
                None if byte.is_ascii_whitespace() || byte == b'>' => return Some(value),
                _ => value.push(byte.to_ascii_lowercase()),
            }
            self.at += 1;
        }
    }
}

fn is_meta(rest: &[u8]) -> bool {
    let name = rest.get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"<meta"));
    name && rest.get(5).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/')
}

fn is_tag(rest: &[u8]) -> bool {
    match rest {
        [b'<', b'/', letter, ..] | [b'<', letter, ..] => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

fn label(value: &[u8]) -> Option<&'static Encoding> {
    if value.trim_ascii() == b"x-user-defined" { Some(WINDOWS_1252) } else { of_label(value) }
}

/// The encoding that the `content` of a `meta` names.
fn of_content(value: &[u8]) -> Option<&'static Encoding> {
    let mut rest = value;
    loop {
        let at = rest.windows(7).position(|window| window == b"charset")?;
        rest = rest.get(at + 7..)?.trim_ascii_start();
        if let Some(after) = rest.strip_prefix(b"=") {
            rest = after.trim_ascii_start();
            break;
        }
    }
    let value = match rest.split_first()? {
        (&quote @ (b'"' | b'\''), rest) => {
            rest.get(..rest.iter().position(|&byte| byte == quote)?)?
        }
        _ => {
            let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b';';
            rest.get(..rest.iter().position(ends).unwrap_or(rest.len()))?
        }
    };
    label(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_declares_its_encoding() {
        for (page, name) in [
            ("<meta charset=shift_jis>", Some("Shift_JIS")),
            ("<!doctype html><html><head><META CHARSET='windows-1252' />", Some("windows-1252")),
            ("<meta content='text/html; charset=gb2312' http-equiv=Content-Type>", Some("GBK")),
            ("<meta content='text/html; charset=gb2312'>", None),
            ("<meta charset=utf-16>", Some("UTF-8")),
            ("<meta charset=x-user-defined>", Some("windows-1252")),
            ("<!-- <meta charset=gbk> --><meta charset=euc-kr>", Some("EUC-KR")),
            ("<!--><meta charset=euc-kr>", Some("EUC-KR")),
            ("<a title='<meta charset=gbk>'><meta charset=big5>", Some("Big5")),
            ("<meta charset=big5", None),
            ("<meta charset=nonsense><meta charset=big5>", Some("Big5")),
            ("<?xml version='1.0' encoding=\"koi8-r\"?><html>", Some("KOI8-R")),
            ("<p>charset=gbk", None),
        ] {
            assert_eq!(prescan(page.as_bytes(), EARLY).map(Encoding::name), name, "{page}");
        }
        let late = format!("<!--{}--><meta charset=gbk>", "x".repeat(1100));
        assert_eq!(prescan(late.as_bytes(), EARLY), None);
        assert_eq!(prescan(late.as_bytes(), LATE).map(Encoding::name), Some("GBK"));
    }
}
