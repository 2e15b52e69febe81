//! What to take out of a page, and within which bounds.

use std::time::Duration;

/// The form of the content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// GitHub-flavoured Markdown.
    #[default]
    Markdown,
    /// Plain text, as a browser copies it: no markers of lists, links or emphasis.
    Text,
    /// HTML of a few elements, without scripts, styles, and attributes other than addresses.
    Html,
}

/// How much of a page is content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// The main content, without navigation and the like.
    #[default]
    Main,
    /// All that is visible.
    Whole,
}

/// Bounds of one extraction. What is over them is left out, and [`Cut`](super::Cut) says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractLimits {
    /// Bytes of the page that are read.
    pub bytes: usize,
    /// Levels of open elements: what is deeper is flattened.
    pub depth: usize,
    /// Nodes of the page's tree.
    pub nodes: usize,
    /// Links that are listed.
    pub links: usize,
    /// Bytes of content.
    pub content: usize,
    /// Time in all.
    pub time: Duration,
}

impl Default for ExtractLimits {
    fn default() -> Self {
        Self {
            bytes: 16 * 1024 * 1024,
            depth: 512,
            nodes: 400_000,
            links: 2_000,
            content: 16 * 1024 * 1024,
            time: Duration::from_millis(2_500),
        }
    }
}

/// What to take out of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtractOptions {
    /// The form of the content.
    pub format: Format,
    /// How much of the page, where there is no selector.
    pub scope: Scope,
    /// A CSS selector: the elements that match are the content, whatever the scope.
    pub selector: Option<String>,
    /// The bounds.
    pub limits: ExtractLimits,
}
