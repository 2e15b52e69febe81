//! A part of a page as Markdown or text.
//!
//! One walk, no recursion: paragraphs gather in an [`Inline`] and are written to an [`Out`] where a
//! block ends. Text that is hidden or not chosen is passed over; the elements around it leave no trace.

mod clean;
mod escape;
mod html;
mod inline;
mod out;
mod pre;
mod table;
mod walk;

use super::{
    budget::Budget,
    dom::{Dom, NodeId},
    hidden::Shown,
    links::Base,
    options::Format,
};

pub(super) use clean::clean;

/// A line of text as Markdown that means nothing but the text.
pub(super) fn escaped(text: &str) -> String {
    let mut inline = inline::Inline::new(false);
    inline.push(text);
    escape::line(&inline.take_line(" "))
}

/// Lines of text as paragraphs.
pub(super) fn paragraphs(text: &str, format: Format) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.map(|line| match format {
        Format::Markdown => escaped(line),
        Format::Text => line.to_owned(),
        Format::Html => format!("<p>{}</p>", html_text(line)),
    });
    lines.collect::<Vec<_>>().join("\n\n")
}

/// Whether a table holds data, and does not only place what is in it.
pub(super) fn is_data(dom: &Dom, shown: &Shown, table: NodeId, budget: &Budget) -> bool {
    table::grid(dom, shown, table, budget).is_some()
}

/// An address as the target of a link in Markdown.
pub(super) fn target(url: &url::Url) -> String {
    escape::target(url.as_str())
}

/// Text as HTML that means nothing but the text.
pub(super) fn html_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    html::escape(&mut out, text);
    out
}

/// What is rendered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) dom: &'a Dom,
    pub(super) shown: &'a Shown,
    /// Which text nodes are chosen; all of them where there is none.
    pub(super) chosen: Option<&'a [bool]>,
    pub(super) base: &'a Base,
}

impl Source<'_> {
    /// Whether a text node is rendered.
    fn is_chosen(&self, id: NodeId) -> bool {
        self.chosen.is_none_or(|chosen| chosen[id.index()])
    }
}

/// What was rendered.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    pub(super) content: String,
    /// Characters that nobody would have seen.
    pub(super) dropped: usize,
    /// Whether the content was longer than it may be.
    pub(super) cut: bool,
}

/// Renders a node and what is in it.
pub(super) fn render(
    source: Source<'_>,
    top: NodeId,
    format: Format,
    limit: usize,
    budget: &Budget,
) -> Rendered {
    let mut rendered = match format {
        Format::Html => html::render(source, top, limit, budget),
        Format::Markdown => walk::render(source, top, false, limit, budget),
        Format::Text => walk::render(source, top, true, limit, budget),
    };
    if rendered.content.len() > limit {
        rendered.cut = true;
        let end = (0..=limit).rev().find(|&at| rendered.content.is_char_boundary(at));
        rendered.content.truncate(end.unwrap_or(0));
    }
    rendered
}
