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
