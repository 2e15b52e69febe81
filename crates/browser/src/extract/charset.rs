//! From bytes to text: which character encoding a document is in.
//!
//! In order: a byte order mark; the `charset` of the `Content-Type` header; for HTML the `meta` of the
//! first 1,024 bytes, for XML its declaration; bytes that are UTF-8 and more than ASCII; a `meta` that
//! comes later; a guess from the bytes (`chardetng`); UTF-8.
//! Labels are those of the Encoding Standard, so `gb2312` is GBK and `iso-8859-1` is windows-1252. A
//! `meta` that says UTF-16 means UTF-8, as the HTML standard has it.

mod prescan;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};

use super::extracted::{Charset, CharsetSource};

/// Bytes that the guess is made from.
const DETECTED_BYTES: usize = 256 * 1024;

/// Decodes a document. `markup` says whether the document may declare its own encoding.
pub(super) fn decode<'a>(
    bytes: &'a [u8],
    content_type: Option<&str>,
    markup: bool,
) -> (Cow<'a, str>, Charset) {
    let (encoding, source) = find(bytes, content_type, markup);
    let (text, malformed) = match source {
        CharsetSource::Bom => encoding.decode_with_bom_removal(bytes),
        _ => encoding.decode_without_bom_handling(bytes),
    };
    (text, Charset { name: encoding.name(), source, malformed })
}

/// The encoding of what was text before.
pub(super) fn utf8() -> Charset {
    Charset { name: UTF_8.name(), source: CharsetSource::Default, malformed: false }
}

fn find(
    bytes: &[u8],
    content_type: Option<&str>,
    markup: bool,
) -> (&'static Encoding, CharsetSource) {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return (encoding, CharsetSource::Bom);
    }
    if let Some(encoding) = content_type.and_then(of_header) {
        return (encoding, CharsetSource::Header);
    }
    if let Some(encoding) = without_bom(bytes) {
        return (encoding, CharsetSource::Detected);
    }
    let declared = |length| prescan::prescan(bytes, length).filter(|_| markup);
    if let Some(encoding) = declared(prescan::EARLY) {
        return (encoding, CharsetSource::Declared);
    }
    let utf8 = is_utf8(bytes);
    if (!utf8 || bytes.is_ascii())
        && let Some(encoding) = declared(prescan::LATE)
    {
        return (encoding, CharsetSource::Declared);
    }
    if utf8 {
        return (UTF_8, CharsetSource::Default);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let seen = bytes.get(..DETECTED_BYTES).unwrap_or(bytes);
    detector.feed(seen, seen.len() == bytes.len());
    (detector.guess(None, Utf8Detection::Allow), CharsetSource::Detected)
}

/// Whether the bytes are UTF-8, but for a character that is cut at their end.
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// The encoding that a `Content-Type` names; an unknown name names none.
fn of_header(content_type: &str) -> Option<&'static Encoding> {
    let mut parameters = content_type.split(';').skip(1);
    let value = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })?;
    let label = value.trim().trim_matches(['"', '\'']).trim();
    of_label(label.as_bytes())
}

/// The encoding of a label. One that is not to be decoded, such as ISO-2022-KR, is none.
fn of_label(label: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label(label).filter(|&encoding| encoding != REPLACEMENT)
}

/// UTF-16 that says so only by its first characters, `<?` or `<!` or `<h`.
fn without_bom(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [b'<', 0, b'?' | b'!' | b'h' | b'H', 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, b'?' | b'!' | b'h' | b'H', ..] => Some(UTF_16BE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_names_the_encoding() {
        for (header, name) in [
            ("text/html; charset=utf-8", Some("UTF-8")),
            ("text/html;CHARSET=\"Shift_JIS\"", Some("Shift_JIS")),
            ("text/html; charset='windows-1252'", Some("windows-1252")),
            ("text/html; boundary=x; charset = gb2312", Some("GBK")),
            ("text/html; charset=latin1", Some("windows-1252")),
            ("text/html; charset=nonsense", None),
            ("text/html; charset=iso-2022-kr", None),
            ("text/html", None),
        ] {
            assert_eq!(of_header(header).map(Encoding::name), name, "{header}");
        }
    }
}
