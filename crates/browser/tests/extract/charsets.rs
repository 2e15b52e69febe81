//! Encodings: the byte order mark, the header, the page's word, a guess, UTF-8, in this order.

use browser::{CharsetSource, ExtractOptions, Extracted, Scope, extract};

use super::url;

fn page(bytes: &[u8], content_type: &str) -> Extracted {
    let options = ExtractOptions { scope: Scope::Whole, ..ExtractOptions::default() };
    extract(bytes, Some(content_type), &url(), &options).unwrap()
}

fn encode(label: &str, text: &str) -> Vec<u8> {
    encoding_rs::Encoding::for_label(label.as_bytes()).unwrap().encode(text).0.into_owned()
}

fn check(bytes: &[u8], content_type: &str, text: &str, name: &str, source: CharsetSource) {
    let got = page(bytes, content_type);
    assert!(got.content.contains(text), "{name}: {}", got.content);
    assert_eq!((got.charset.name, got.charset.source), (name, source));
}

#[test]
fn a_page_is_read_in_its_encoding() {
    use CharsetSource::{Bom, Declared, Default, Detected, Header};
    let japanese = "<meta charset=shift_jis><p>日本語のページです</p>";
    check(&encode("shift_jis", japanese), "text/html", "日本語のページです", "Shift_JIS", Declared);
    let chinese =
        "<meta http-equiv=Content-Type content='text/html; charset=gb2312'><p>中文网页㐀</p>";
    check(&encode("gb18030", chinese), "text/html", "中文网页", "GBK", Declared);
    check(
        &encode("gb18030", "<p>中文㐀</p>"),
        "text/html; charset=gb18030",
        "中文㐀",
        "gb18030",
        Header,
    );
    let korean = "<p>한국어 페이지</p>";
    check(
        &encode("euc-kr", korean),
        "text/html; charset=\"EUC-KR\"",
        "한국어 페이지",
        "EUC-KR",
        Header,
    );
    let western = "<meta charset=\"windows-1252\"><p>“naïve” – café €</p>";
    check(
        &encode("windows-1252", western),
        "text/html",
        "“naïve” – café €",
        "windows-1252",
        Declared,
    );
    check("<p>žluťoučký</p>".as_bytes(), "text/html", "žluťoučký", "UTF-8", Default);
    let russian = "<p>Это обычный русский текст, в котором достаточно слов для догадки.</p>";
    check(
        &encode("windows-1251", russian),
        "text/html",
        "обычный русский текст",
        "windows-1251",
        Detected,
    );
    let late = format!("<!--{}--><meta charset=windows-1251>{russian}", "x".repeat(1100));
    check(&encode("windows-1251", &late), "text/html", "обычный русский", "windows-1251", Declared);
    let mut wide = vec![0xFF, 0xFE];
    wide.extend("<p>wide – ünï</p>".encode_utf16().flat_map(u16::to_le_bytes));
    check(&wide, "text/html; charset=utf-8", "wide – ünï", "UTF-16LE", Bom);
    check(b"\xEF\xBB\xBF<p>m\xC3\xA9</p>", "text/html; charset=latin1", "mé", "UTF-8", Bom);
    check("<meta charset=utf-16><p>é</p>".as_bytes(), "text/html", "é", "UTF-8", Declared);
}

#[test]
fn the_header_wins_over_the_page_and_what_does_not_fit_is_said() {
    let got =
        page("<meta charset=utf-8><p>caf\u{e9}</p>".as_bytes(), "text/html; charset=shift_jis");
    assert_eq!((got.charset.name, got.charset.source), ("Shift_JIS", CharsetSource::Header));
    assert!(page(b"<p>\xFF\xFE\xFF</p>", "text/html; charset=utf-8").charset.malformed);
    assert!(!page(b"<p>x</p>", "text/html; charset=utf-8").charset.malformed);
}

#[test]
fn a_title_is_in_the_encoding_of_the_page() {
    let bytes =
        encode("shift_jis", "<meta charset=shift_jis><title lang=ja>題名 &amp;\n 二</title><p>x");
    assert_eq!(page(&bytes, "text/html").title.as_deref(), Some("題名 & 二"));
}
