//! No input makes extraction panic, and what comes out is bounded.

use browser::{ExtractLimits, ExtractOptions, Format, Scope, extract};
use proptest::prelude::*;

use super::url;

/// Parts of pages, in any order and broken in any way.
fn soup() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "<table>",
        "</table>",
        "<tr>",
        "<td colspan=3 rowspan=2>",
        "<th>",
        "<ul>",
        "<li>",
        "</ul>",
        "<ol start=-5>",
        "<p>",
        "</p>",
        "<a href='x(y'>",
        "</a>",
        "<b>",
        "</b>",
        "<i>",
        "</i>",
        "<code>",
        "</code>",
        "<pre>",
        "</pre>",
        "<br>",
        "<hr>",
        "<h1>",
        "</h1>",
        "<blockquote>",
        "</blockquote>",
        "<div style='display:none'>",
        "</div>",
        "<svg>",
        "</svg>",
        "<math>",
        "<template>",
        "<select>",
        "<option>",
        "<script>",
        "</script>",
        "<style>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "&amp;",
        "&#0;",
        "\u{200D}",
        "`",
        "*",
        "|",
        "\\",
        "\n",
        " ",
        "é",
        "文",
        "👩\u{200D}💻",
        "text ",
        "<frameset>",
        "<iframe>",
        "<noscript>",
        "<img src=x alt='a`b'>",
        "<dl>",
        "<dt>",
        "<dd>",
        "<details>",
        "<summary>",
        "<a b='",
    ]);
    prop::collection::vec(parts, 0..120).prop_map(|parts| parts.concat())
}

fn options() -> impl Strategy<Value = ExtractOptions> {
    let format = prop::sample::select(vec![Format::Markdown, Format::Text, Format::Html]);
    let scope = prop::sample::select(vec![Scope::Main, Scope::Whole]);
    let selector = prop::sample::select(vec![
        None,
        Some("*"),
        Some("td :not(b), p ~ *"),
        Some("li:nth-child(odd)"),
    ]);
    (format, scope, selector, 0_usize..400).prop_map(|(format, scope, selector, content)| {
        ExtractOptions {
            format,
            scope,
            selector: selector.map(str::to_owned),
            limits: ExtractLimits { content, ..ExtractLimits::default() },
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn pages_of_any_shape_are_answered(page in soup(), options in options()) {
        let extracted = extract(page.as_bytes(), Some("text/html; charset=utf-8"), &url(), &options).unwrap();
        prop_assert!(extracted.content.len() <= options.limits.content || options.selector.is_some());
    }

    #[test]
    fn any_bytes_of_any_type_are_answered(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        content_type in prop::sample::select(vec![
            "text/html", "application/json", "application/pdf", "text/xml", "application/rss+xml", "text/plain",
            "text/html; charset=utf-16", "application/octet-stream", "", "text/html; charset=iso-2022-jp",
        ]),
    ) {
        let _ = extract(&bytes, Some(content_type), &url(), &ExtractOptions::default());
        let mut pdf = b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]>>endobj 3 0 obj<</Contents 4 0 R>>endobj 4 0 obj<</Length 9>>stream\n".to_vec();
        pdf.extend(&bytes);
        let _ = extract(&pdf, Some("application/pdf"), &url(), &ExtractOptions::default());
    }

    #[test]
    fn no_selector_panics(selector in "[a-z.#:()\\[\\]=\"'*>+~, \\\\0-9n|^$-]{0,30}") {
        let options = ExtractOptions { selector: Some(selector), ..ExtractOptions::default() };
        let _ = extract(b"<p class=a>x<b>y</b></p>", Some("text/html"), &url(), &options);
    }
}
