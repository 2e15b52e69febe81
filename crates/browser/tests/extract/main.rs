//! Extraction: what comes out of a page is what a reader would see of it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod charsets;
mod content;
mod documents;
mod fidelity;
mod hidden;
mod html5lib;
mod pages;
mod pdfs;
mod properties;
mod selectors;

use browser::{ExtractOptions, Extracted, Scope, extract};
use url::Url;

/// Where the pages of the tests are from.
fn url() -> Url {
    "https://example.com/docs/page?x=1".parse().unwrap()
}

fn with(html: &str, options: &ExtractOptions) -> Extracted {
    extract(html.as_bytes(), Some("text/html; charset=utf-8"), &url(), options).unwrap()
}

/// All that is visible of a page.
fn whole(html: &str) -> Extracted {
    with(html, &ExtractOptions { scope: Scope::Whole, ..ExtractOptions::default() })
}

/// The main content of a page.
fn main_of(html: &str) -> Extracted {
    with(html, &ExtractOptions::default())
}
