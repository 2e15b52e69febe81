//! The main content of a page, from its bytes.
//!
//! [`extract`] takes what a server sent and gives text for a reader: of HTML the main content as
//! Markdown, text or cleaned HTML, of a PDF its text, of a feed its entries, of JSON the same laid out.
//! What holds no text is refused with its type.
//!
//! Nothing of a page runs and nothing it names is fetched. Every step is a loop within a budget of
//! time, over a tree that is capped in depth and size, so that no shape of a page makes it slow, large
//! or deep; where a bound ended it, [`Extracted::cut`] says so, and what was there is given. It is a
//! plain function that can take as long as its limits say: async callers put it on a thread for that.
//!
//! All that comes out is the page's word. Text that a reader would not see is dropped and counted, and
//! text that would be markup is escaped, but nothing here judges what is said.

mod budget;
mod charset;
mod document;
mod dom;
mod error;
mod extracted;
mod feed;
mod finder;
mod hidden;
mod json;
mod kind;
mod links;
mod meta;
mod options;
mod pdf;
mod render;
mod select;
mod tags;

use url::Url;

use budget::Budget;

pub use self::{
    error::ExtractError,
    extracted::{Charset, CharsetSource, Cut, Extracted, Kind, Link, Metadata, Refresh},
    options::{ExtractLimits, ExtractOptions, Format, Scope},
};

/// Takes out of a document what was asked for.
///
/// `content_type` is the header of the response as it came; `url` is where the document came from, after
/// redirects: links are relative to it.
///
/// ```
/// use browser::{ExtractOptions, extract};
///
/// let page = b"<title>Tea</title><h1>Tea</h1><p>Pour <em>boiling</em> water over the leaves.</p>";
/// let url = "https://example.com/tea".parse()?;
/// let options = ExtractOptions { selector: Some("p".to_owned()), ..ExtractOptions::default() };
/// let tea = extract(page, Some("text/html"), &url, &options)?;
/// assert_eq!(tea.title.as_deref(), Some("Tea"));
/// assert_eq!(tea.content, "Pour *boiling* water over the leaves.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Where the document holds no text, the selector is not one or there are no elements for it, or a PDF
/// can't be read.
pub fn extract(
    bytes: &[u8],
    content_type: Option<&str>,
    url: &Url,
    options: &ExtractOptions,
) -> Result<Extracted, ExtractError> {
    let budget = Budget::new(options.limits.time);
    let kind = kind::find(bytes, content_type)?;
    let read = bytes.get(..options.limits.bytes).unwrap_or(bytes);
    let mut extracted = match kind {
        Kind::Pdf => {
            no_selector(options, kind)?;
            let pdf = pdf::read(bytes, &options.limits, &budget)?;
            let mut extracted =
                plain(pdf.content, pdf.title, kind, charset::utf8(), options, pdf.cut);
            extracted.hidden_characters += pdf.hidden;
            extracted
        }
        kind => text(read, content_type, kind, url, options, &budget)?,
    };
    if read.len() < bytes.len() && kind != Kind::Pdf {
        extracted.cut = extracted.cut.or(Some(Cut::Size));
    }
    Ok(extracted)
}

fn text(
    bytes: &[u8],
    content_type: Option<&str>,
    kind: Kind,
    url: &Url,
    options: &ExtractOptions,
    budget: &Budget,
) -> Result<Extracted, ExtractError> {
    let markup = matches!(kind, Kind::Html | Kind::Xml | Kind::Feed);
    let (text, charset) = charset::decode(bytes, content_type, markup);
    if kind == Kind::Html {
        return document::extract(&text, charset, url, options, budget);
    }
    if kind == Kind::Json
        && content_type.is_some_and(|content_type| content_type.contains("html"))
        && json::pretty(&text, budget).is_none()
    {
        return document::extract(&text, charset, url, options, budget);
    }
    no_selector(options, kind)?;
    if kind == Kind::Feed
        && let Some(feed) = feed::read(&text, url, options.format, &options.limits, budget)
    {
        let cut = feed.cut;
        let mut extracted = plain(feed.content, feed.title, kind, charset, options, cut);
        extracted.metadata.description = feed.description;
        extracted.links = feed.links;
        return Ok(extracted);
    }
    let (kind, content) = match kind {
        Kind::Json => match json::pretty(&text, budget) {
            Some(laid_out) => (Kind::Json, laid_out),
            None if budget.is_over() => (Kind::Json, text.into_owned()),
            None => (Kind::Text, text.into_owned()),
        },
        Kind::Feed => (Kind::Xml, text.into_owned()),
        kind => (kind, text.into_owned()),
    };
    Ok(plain(content, None, kind, charset, options, false))
}

fn no_selector(options: &ExtractOptions, kind: Kind) -> Result<(), ExtractError> {
    match options.selector {
        Some(_) => Err(ExtractError::NoElements { kind: kind.as_str() }),
        None => Ok(()),
    }
}

/// What is given of a document that is not a page.
fn plain(
    mut content: String,
    title: Option<String>,
    kind: Kind,
    charset: Charset,
    options: &ExtractOptions,
    cut: bool,
) -> Extracted {
    // JSON and source text keep every character that they have: only what nobody sees is taken out.
    let (cleaned, dropped) = render::clean(&content);
    if dropped > 0 {
        content = cleaned;
    }
    let limit = options.limits.content;
    let mut cut = cut.then_some(Cut::Size);
    if content.len() > limit {
        let end = (0..=limit).rev().find(|&at| content.is_char_boundary(at));
        content.truncate(end.unwrap_or(0));
        cut = Some(Cut::Content);
    }
    Extracted {
        kind,
        title,
        content,
        metadata: Metadata::default(),
        links: Vec::new(),
        charset,
        matches: None,
        hidden_characters: dropped,
        needs_javascript: false,
        unfiltered: false,
        refreshes: Vec::new(),
        frames: Vec::new(),
        cut,
    }
}

/// For the making of trees: the text of every block of a page with its numbers.
#[doc(hidden)]
pub fn explain(bytes: &[u8], url: &Url) -> Vec<(String, Vec<f32>)> {
    let limits = ExtractLimits::default();
    let budget = Budget::new(std::time::Duration::from_secs(60));
    let (html, _) = charset::decode(bytes, None, true);
    let parsed = dom::parse(&html, &limits, &budget);
    let shown = hidden::Shown::of(&parsed.dom);
    finder::explain(&parsed.dom, &shown, url, &budget)
}

/// The text of a document as it is, and the name of its encoding; `None` where it holds no text.
pub(crate) fn text_of<'a>(
    bytes: &'a [u8],
    content_type: Option<&str>,
) -> Option<(std::borrow::Cow<'a, str>, &'static str)> {
    let kind = kind::find(bytes, content_type).ok().filter(|kind| *kind != Kind::Pdf)?;
    let markup = matches!(kind, Kind::Html | Kind::Xml | Kind::Feed);
    let (text, charset) = charset::decode(bytes, content_type, markup);
    Some((text, charset.name))
}
