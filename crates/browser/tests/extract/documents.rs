//! What is not HTML: JSON, feeds, text, and what holds no text.

use browser::{Cut, ExtractError, ExtractLimits, ExtractOptions, Extracted, Kind, extract};

use super::url;

fn read(bytes: &[u8], content_type: &str) -> Extracted {
    extract(bytes, Some(content_type), &url(), &ExtractOptions::default()).unwrap()
}

#[test]
fn json_is_laid_out_and_never_read_as_html() {
    for (bytes, content_type) in [
        (&b"\xEF\xBB\xBF{\"a\":12345678901234567890,\"a\":\"<b>x</b>\"}"[..], "application/json"),
        (b"{\"a\":12345678901234567890,\"a\":\"<b>x</b>\"}", "text/html"),
        (b"{\"a\":12345678901234567890,\"a\":\"<b>x</b>\"}", "application/problem+json"),
    ] {
        let got = read(bytes, content_type);
        assert_eq!(got.kind, Kind::Json);
        assert_eq!(got.content, "{\n  \"a\": 12345678901234567890,\n  \"a\": \"<b>x</b>\"\n}");
    }
    let lines = read(b"{\"a\":1}\n{\"a\":2}\n", "application/x-ndjson");
    assert_eq!((lines.kind, lines.content.as_str()), (Kind::JsonLines, "{\"a\":1}\n{\"a\":2}\n"));
    let broken = read(b"{\"a\": oops <b>}", "application/json");
    assert_eq!((broken.kind, broken.content.as_str()), (Kind::Text, "{\"a\": oops <b>}"));
}

#[test]
fn text_and_markdown_stay_as_they_are() {
    for (content_type, kind) in [("text/plain", Kind::Text), ("text/markdown", Kind::Markdown)] {
        let got = read(b"# <b>x</b>\n\n- &amp;", content_type);
        assert_eq!((got.kind, got.content.as_str()), (kind, "# <b>x</b>\n\n- &amp;"));
    }
    let xhtml = read(b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><body><p>x</p></body></html>", "application/xhtml+xml");
    assert_eq!((xhtml.kind, xhtml.content.as_str()), (Kind::Html, "x"));
}

#[test]
fn a_feed_is_its_entries() {
    let rss = "<?xml version='1.0'?><rss version='2.0'><channel><title>News &amp; more</title><link>https://example.com</link>\
        <image><title>no</title></image><item><title>First</title><link>/1</link><pubDate>Mon, 1 Jan 2024</pubDate>\
        <description><![CDATA[<p>Some <b>text</b></p><script>no</script>]]></description></item>\
        <item><title>Second &lt;b&gt;bold&lt;/b&gt;</title><link>javascript:x</link><content:encoded>&lt;p&gt;More&lt;/p&gt;</content:encoded></item></channel></rss>";
    let got = read(rss.as_bytes(), "application/rss+xml");
    assert_eq!((got.kind, got.title.as_deref()), (Kind::Feed, Some("News & more")));
    insta::assert_snapshot!(got.content, @r"
    ## [First](https://example.com/1)

    Mon, 1 Jan 2024

    Some **text**

    ## Second bold

    More
    ");
    let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><title>Log</title><entry><title type='text'>Entry</title>\
        <link rel='self' href='/no'/><link href='/yes'/><updated>2024-01-01</updated><author><name>Ada</name></author>\
        <content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>In <em>XHTML</em></p></div></content></entry></feed>";
    let got = read(atom.as_bytes(), "text/xml");
    assert_eq!(got.kind, Kind::Feed);
    insta::assert_snapshot!(got.content, @r"
    ## [Entry](https://example.com/yes)

    2024-01-01 · Ada

    In *XHTML*
    ");
    assert_eq!(got.links.len(), 1);
}

#[test]
fn images_and_archives_are_refused_with_their_type() {
    for (bytes, content_type, media_type) in [
        (&b"\x89PNG\r\n\x1a\n...."[..], "text/html", "image/png"),
        (b"PK\x03\x04", "application/octet-stream", "application/zip"),
        (b"anything", "image/webp", "image/webp"),
        (b"\x00\x01\x02\x03", "application/octet-stream", "application/octet-stream"),
    ] {
        let refused = extract(bytes, Some(content_type), &url(), &ExtractOptions::default());
        assert_eq!(refused, Err(ExtractError::NotText { media_type: media_type.to_owned() }));
    }
}

#[test]
fn limits_cut_and_say_so() {
    let limits = |change: fn(&mut ExtractLimits)| {
        let mut limits = ExtractLimits::default();
        change(&mut limits);
        ExtractOptions { limits, ..ExtractOptions::default() }
    };
    let page = "<p>Words of a page, quite a few of them — é.</p>".repeat(200);
    for (options, cut) in [
        (limits(|limits| limits.bytes = 1000), Cut::Size),
        (limits(|limits| limits.nodes = 50), Cut::Size),
        (limits(|limits| limits.content = 100), Cut::Content),
    ] {
        let got = extract(page.as_bytes(), Some("text/html"), &url(), &options).unwrap();
        assert_eq!(got.cut, Some(cut));
        assert!(got.content.starts_with("Words of a page"));
        assert!(got.content.len() <= options.limits.content);
    }
    let whole =
        extract(page.as_bytes(), Some("text/html"), &url(), &ExtractOptions::default()).unwrap();
    assert_eq!(whole.cut, None);
    let text = extract(
        "é".repeat(100).as_bytes(),
        Some("text/plain"),
        &url(),
        &limits(|limits| limits.content = 33),
    )
    .unwrap();
    assert_eq!((text.content.len(), text.cut), (32, Some(Cut::Content)));
}
