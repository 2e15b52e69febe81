//! The main content of a page.

mod budget;
mod charset;
mod dom;
mod error;
mod extracted;
mod finder;
mod hidden;
mod kind;
mod options;
mod tags;

pub use self::{
    error::ExtractError,
    extracted::{Charset, CharsetSource, Cut, Extracted, Kind, Link, Metadata, Refresh},
    options::{ExtractLimits, ExtractOptions, Format, Scope},
};

/// For the making of trees.
#[doc(hidden)]
pub fn explain(bytes: &[u8], url: &url::Url) -> Vec<(String, Vec<f32>)> {
    let limits = ExtractLimits::default();
    let budget = budget::Budget::new(std::time::Duration::from_secs(60));
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

/// The content of a document.
///
/// # Errors
/// It holds no text.
pub fn extract(
    bytes: &[u8],
    content_type: Option<&str>,
    _url: &url::Url,
    _options: &ExtractOptions,
) -> Result<Extracted, ExtractError> {
    let kind = kind::find(bytes, content_type)?;
    let (text, charset) = charset::decode(bytes, content_type, true);
    Ok(Extracted {
        kind,
        title: None,
        content: text.into_owned(),
        metadata: Metadata::default(),
        links: vec![],
        charset,
        matches: None,
        hidden_characters: 0,
        needs_javascript: false,
        unfiltered: false,
        refreshes: vec![],
        frames: vec![],
        cut: None,
    })
}
