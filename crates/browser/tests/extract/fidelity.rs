//! Thirty-one checks that Markdown says what the page says.

use super::whole;

/// A check: its name, a page, and its Markdown.
type Check = (&'static str, &'static str, &'static str);

const CHECKS: &[Check] = &[
    (
        "a table with a head",
        "<table><thead><tr><th>a<th>b</thead><tr><td>1<td>2</table>",
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
    ),
    (
        "a table without a head",
        "<table><tr><td>1<td>2<tr><td>3<td>4</table>",
        "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |",
    ),
    (
        "breaks, paragraphs, lists and bars in cells",
        "<table><tr><th>k<th>v<tr><td>a|b<td>x<br>y<tr><td><p>p</p><p>q</p><td><ul><li>i<li>j</ul></table>",
        "| k | v |\n| --- | --- |\n| a\\|b | x<br>y |\n| p<br>q | • i<br>• j |",
    ),
    (
        "cells over columns and rows",
        "<table><tr><th colspan=2>ab<th>c<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>",
        "| ab |  | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n|  | 4 | 5 |",
    ),
    (
        "a table that only places",
        "<table><tr><td><h2>Title</h2><p>Text.</p><td><table><tr><th>x<th>y<tr><td>1<td>2</table></table>",
        "## Title\n\nText.\n\n| x | y |\n| --- | --- |\n| 1 | 2 |",
    ),
    ("rows without a table", "<div><tbody><tr><td>just text</td></tr></tbody></div>", "just text"),
    (
        "a caption",
        "<table><caption>Prices</caption><tr><th>tea<th>milk<tr><td>1<td>2</table>",
        "Prices\n\n| tea | milk |\n| --- | --- |\n| 1 | 2 |",
    ),
    (
        "nested lists",
        "<ul><li>Coffee<li>Tea<ul><li>Black tea<li>Green tea</ul><li>Milk</ul>",
        "- Coffee\n- Tea\n  - Black tea\n  - Green tea\n- Milk",
    ),
    (
        "a list right in a list",
        "<ul><li>one</li><ul><li>inner</li></ul><li>two</li></ul>",
        "- one\n  - inner\n- two",
    ),
    ("a list in the body", "<body><ul><li><span>a</span></li><li>b</li></ul>", "- a\n- b"),
    (
        "numbered lists",
        "<ol start=3><li>three<li>four<ol><li>one</ol><li value=9>nine</ol>",
        "3. three\n4. four\n   1. one\n9. nine",
    ),
    (
        "items with paragraphs and code",
        "<ul><li><p>a</p><p>b</p><pre>c\n  d</pre></li><li>e</li></ul>",
        "- a\n\n  b\n\n  ```\n  c\n    d\n  ```\n- e",
    ),
    (
        "preformatted text",
        "<pre>\n  two\n\n\tone tab\n    four\n</pre>",
        "```\n  two\n\n\tone tab\n    four\n```",
    ),
    (
        "code with a language and a span for each token",
        "<pre><code class='hljs language-rust'><span class=k>fn</span> <span>main</span>() {}\n</code></pre>",
        "```rust\nfn main() {}\n```",
    ),
    (
        "code with fences in it",
        "<pre><code class=lang-md>```mermaid\ngraph\n```</code></pre>",
        "````md\n```mermaid\ngraph\n```\n````",
    ),
    (
        "code in a line",
        "<p>Use <code>a`b</code> and <code>*x*</code>.</p>",
        "Use ``a`b`` and `*x*`.",
    ),
    ("a break", "<p>line1<br>line2</p>", "line1\\\nline2"),
    ("breaks that part paragraphs", "<p>one<br><br>two</p>", "one\n\ntwo"),
    (
        "space before a link",
        "<p>aaa \n<a href=/b>bbb</a>\n ccc</p>",
        "aaa [bbb](https://example.com/b) ccc",
    ),
    (
        "no-break spaces, break opportunities, soft hyphens",
        "<p>foo<span>&nbsp;</span>bar long<wbr>word soft&shy;hyphen</p>",
        "foo bar longword softhyphen",
    ),
    (
        "emphasis",
        "<p>a <b>bold </b>and<em> soft</em> <strong><b>x</b></strong><i></i> <del>old</del> un<b>frigging</b>real</p>",
        "a **bold** and *soft* **x** ~~old~~ un**frigging**real",
    ),
    (
        "links of all kinds",
        "<p><a href=../up>up</a> <a href='?q=1'>q</a> <a href=#s>s</a> <a href=//h.example/x>h</a> <a href='mailto:a@b.c'>m</a></p>",
        "[up](https://example.com/up) [q](https://example.com/docs/page?q=1) [s](https://example.com/docs/page?x=1#s) [h](https://h.example/x) [m](mailto:a@b.c)",
    ),
    (
        "links that run or hold what they show",
        "<p><a href='javascript:alert(1)'>run</a> <a href=' JaVaScRiPt:x'>run</a> <a href='data:text/html,x'>data</a> <a href='vbscript:x'>vb</a></p>",
        "run run data vb",
    ),
    (
        "a base",
        "<base href='/other/'><base href='/second/'><p><a href=x>x</a></p>",
        "[x](https://example.com/other/x)",
    ),
    (
        "a link around blocks",
        "<a href=/card><h3>Title</h3><p>Text</p></a>",
        "### [Title](https://example.com/card)\n\nText",
    ),
    (
        "an address with brackets",
        "<p><a href='/a(b) c'>x</a></p>",
        "[x](https://example.com/a%28b%29%20c)",
    ),
    (
        "text that looks like Markdown",
        "<p># no heading</p><p>* no item [no](link) `no` &lt;b&gt; _no_ snake_case 1 * 2</p><p>1. no</p><p>- no</p>",
        "\\# no heading\n\n\\* no item \\[no\\](link) \\`no\\` \\<b> \\_no\\_ snake_case 1 \\* 2\n\n1\\. no\n\n\\- no",
    ),
    (
        "entities",
        "<p>&lt;p&gt; &amp;amp; &copy; &#8364; &euro; &notanentity; &nothing &#x110000;</p>",
        "\\<p> \\&amp; © € € ¬anentity; ¬hing \u{FFFD}",
    ),
    (
        "scripts, styles and comments",
        "<p>a<script>if (a<b) document.write('<p>x</p>')</script><style>p{}</style><!-- c --><template>t</template>b</p>",
        "ab",
    ),
    (
        "quotes, rules and headings",
        "<h1>One</h1><blockquote><p>said</p><blockquote>more</blockquote></blockquote><hr><h4>Four<br>lines</h4>",
        "# One\n\n> said\n>\n> > more\n\n---\n\n#### Four lines",
    ),
    (
        "images and formulas",
        "<p><img src=/i.png alt='A [cat]'><img src='data:x' alt=no> <math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation></semantics></math></p>",
        "![A \\[cat\\]](https://example.com/i.png) $x^2$",
    ),
];

#[test]
fn thirty_one_checks() {
    assert_eq!(CHECKS.len(), 31);
    let mut failed = Vec::new();
    for (name, page, markdown) in CHECKS {
        let got = whole(page).content;
        if got != *markdown {
            failed.push(format!("{name}:\n{got}\n--- instead of ---\n{markdown}\n"));
        }
    }
    assert!(failed.is_empty(), "{} of 31\n{}", failed.len(), failed.join("\n"));
}
