//! Pages that are made to be slow, large or deep.

/// A shape by its name, and a document of it.
pub(crate) type Shape = (&'static str, &'static str, Vec<u8>);

/// Every shape, with the type that it is sent as.
pub(crate) fn all() -> Vec<Shape> {
    let mut shapes = deep();
    shapes.extend(wide());
    shapes.extend(broken());
    shapes.extend(packed());
    shapes
}

fn html(name: &'static str, text: String) -> Shape {
    (name, "text/html", text.into_bytes())
}

fn nested(name: &'static str, open: &str, close: &str, count: usize) -> Shape {
    html(name, format!("{}words in the middle{}", open.repeat(count), close.repeat(count)))
}

fn deep() -> Vec<Shape> {
    vec![
        nested("50,000 nested div", "<div>", "</div>", 50_000),
        nested("50,000 div without an end", "<div>", "", 50_000),
        nested("20,000 nested b", "<b>", "</b>", 20_000),
        nested("20,000 nested li", "<ul><li>", "</li></ul>", 20_000),
        nested("20,000 nested blockquote", "<blockquote>", "</blockquote>", 20_000),
        nested("5,000 nested tables", "<table><tr><td>", "</td></tr></table>", 5_000),
        nested("20,000 nested svg", "<svg>", "</svg>", 20_000),
        nested("20,000 nested template", "<template>", "</template>", 20_000),
        nested("20,000 nested a in tables", "<a><table><tr><td>", "", 20_000),
        html("formatting that is opened again", {
            let open: String = (0..2000).map(|number| format!("<font size={number}><p>")).collect();
            format!("{open}{}", "<p>x".repeat(5_000))
        }),
        html("misnested formatting", "<b><i><u><s></b></i></u></s><p>x".repeat(30_000)),
    ]
}

fn wide() -> Vec<Shape> {
    vec![
        html("50,000 attributes", {
            let attributes: String = (0..50_000).map(|number| format!(" a{number}=x")).collect();
            format!("<p{attributes}>text</p>")
        }),
        html("50,000 attributes with signs", {
            let attributes: String = (0..50_000).map(|number| format!(" <a{number}")).collect();
            format!("<p{attributes}>text</p>")
        }),
        html("an attribute of 8 MB", format!("<p title=\"{}\">text</p>", "x".repeat(8_000_000))),
        html("a class of 2 MB", format!("<p class=\"{}\">text</p>", "nav ".repeat(500_000))),
        html("10 MB of text", format!("<p>{}</p>", "some words and more ".repeat(500_000))),
        html("100,000 paragraphs", "<p>A paragraph of a few words, all alike.</p>".repeat(100_000)),
        html("200,000 links", "<a href=/x>link</a> ".repeat(200_000)),
        html("1,000,000 br", "<br>".repeat(1_000_000)),
        html("a table of 200,000 cells", {
            format!("<table>{}</table>", "<tr><td>a<td>b<td>c<td>d".repeat(50_000))
        }),
        html("spans of 1,000 columns and rows", {
            format!("<table>{}</table>", "<tr><td colspan=1000 rowspan=65534>x".repeat(20_000))
        }),
        html(
            "a style for every element",
            "<p style='color:#fff;background:#000'>x</p>".repeat(80_000),
        ),
        html("100,000 items", format!("<ol>{}</ol>", "<li>item".repeat(100_000))),
    ]
}

fn broken() -> Vec<Shape> {
    vec![
        html("1,000,000 <", "<".repeat(1_000_000)),
        html("300,000 broken entities", "&notanentity&#x110000;&".repeat(100_000)),
        html("an unclosed comment", format!("<p>text</p><!--{}", "<p>x</p>".repeat(500_000))),
        html("1,000,000 unclosed comments", "<!--".repeat(1_000_000)),
        html(
            "an unclosed script",
            format!("<p>text</p><script>{}", "<!--<script>".repeat(300_000)),
        ),
        html("an unclosed attribute", format!("<p>text</p><a href=\"{}", "<b>x".repeat(500_000))),
        html("1,000,000 end tags", "</p>".repeat(1_000_000)),
        html("nulls", "<p>\0x".repeat(300_000)),
        html("zero-width characters", format!("<p>{}</p>", "\u{200B}a".repeat(1_000_000))),
        html(
            "backticks",
            format!("<p>{}</p><pre>{}</pre>", "` ".repeat(500_000), "`".repeat(500_000)),
        ),
        html("linked data that is deep", {
            format!("<script type=application/ld+json>{}</script><p>text</p>", "[".repeat(200_000))
        }),
    ]
}

fn packed() -> Vec<Shape> {
    vec![
        ("json that is deep", "application/json", "[".repeat(5_000_000).into_bytes()),
        ("a feed of 100,000 entries", "application/rss+xml", {
            format!("<rss><channel>{}", "<item><title>x</title></item>".repeat(100_000))
                .into_bytes()
        }),
        ("a feed that is deep", "application/rss+xml", {
            format!("<rss>{}", "<item>".repeat(500_000)).into_bytes()
        }),
        ("a feed with entities that grow", "application/rss+xml", {
            let entities: String = (1..30)
                .map(|number| {
                    format!("<!ENTITY a{number} \"{}\">", format!("&a{};", number - 1).repeat(10))
                })
                .collect();
            format!("<!DOCTYPE x [<!ENTITY a0 \"x\">{entities}]><rss><item><title>&a29;</title></item></rss>")
                .into_bytes()
        }),
        ("a pdf of brackets", "application/pdf", {
            format!("%PDF-1.4\n1 0 obj\n{}", "<<[".repeat(2_000_000)).into_bytes()
        }),
        ("a pdf of objects", "application/pdf", {
            format!("%PDF-1.4\n{}", "1 0 obj<</Type/Page/Kids[1 0 R 1 0 R]>>".repeat(200_000))
                .into_bytes()
        }),
        ("a pdf whose pages hold themselves", "application/pdf", {
            b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[2 0 R 2 0 R]>>endobj".to_vec()
        }),
        ("plain text of one line", "text/plain", vec![b'x'; 10_000_000]),
        (
            "selectors",
            "text/html",
            format!("<div>{}", "<p class=a>x<b>y</b>".repeat(20_000)).into_bytes(),
        ),
    ]
}
