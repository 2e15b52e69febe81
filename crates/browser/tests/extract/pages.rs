//! Twenty pages of as many shapes: what of each is its main content, as Markdown.

use super::main_of;

/// The pages, by name.
const PAGES: [(&str, &str); 20] = [
    ("api-reference", include_str!("pages/api-reference.html")),
    ("arabic-article", include_str!("pages/arabic-article.html")),
    ("blog-with-comments", include_str!("pages/blog-with-comments.html")),
    ("changelog", include_str!("pages/changelog.html")),
    ("documentation", include_str!("pages/documentation.html")),
    ("event", include_str!("pages/event.html")),
    ("faq", include_str!("pages/faq.html")),
    ("forum-thread", include_str!("pages/forum-thread.html")),
    ("japanese-article", include_str!("pages/japanese-article.html")),
    ("landing-page", include_str!("pages/landing-page.html")),
    ("legal-text", include_str!("pages/legal-text.html")),
    ("listing", include_str!("pages/listing.html")),
    ("news-article", include_str!("pages/news-article.html")),
    ("poem", include_str!("pages/poem.html")),
    ("product", include_str!("pages/product.html")),
    ("question-and-answers", include_str!("pages/question-and-answers.html")),
    ("recipe", include_str!("pages/recipe.html")),
    ("report-with-tables", include_str!("pages/report-with-tables.html")),
    ("search-results", include_str!("pages/search-results.html")),
    ("wiki", include_str!("pages/wiki.html")),
];

#[test]
fn twenty_pages_give_their_main_content() {
    for (name, page) in PAGES {
        let extracted = main_of(page);
        assert!(!extracted.needs_javascript, "{name}");
        insta::assert_snapshot!(name, extracted.content);
    }
}
