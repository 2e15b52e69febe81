//! A page of HTML, from its text to what is given of it.

use url::Url;

use super::{
    budget::Budget,
    dom::{self, Dom, NodeId, Parsed},
    error::ExtractError,
    extracted::{Charset, Cut, Extracted, Kind},
    finder,
    hidden::Shown,
    links::{self, Base},
    meta::Said,
    options::{ExtractLimits, ExtractOptions, Format, Scope},
    render::{self, Rendered, Source},
    select::Selector,
};

/// Fewest words of a page that is more than a shell for scripts.
const SHELL: usize = 40;
/// Fewest words of an article's text in linked data that stand for a page without text.
const BODY: usize = 60;

/// Takes out of a page what was asked for.
///
/// # Errors
///
/// Where the selector is not one.
pub(super) fn extract(
    html: &str,
    charset: Charset,
    url: &Url,
    options: &ExtractOptions,
    budget: &Budget,
) -> Result<Extracted, ExtractError> {
    let selector = options.selector.as_deref().map(Selector::parse).transpose()?;
    let Parsed { dom, cut } = dom::parse(html, &options.limits, &budget.part(1, 2));
    let shown = Shown::of(&dom);
    let base = Base::of(&dom, url);
    let said = Said::of(&dom);
    let page = Page { dom: &dom, shown: &shown, base: &base, said: &said, url, options, budget };
    let (content, matches) = match &selector {
        Some(selector) => page.selected(selector),
        None => (page.content(), None),
    };
    let cut = match (content.rendered.cut, budget.is_over(), cut) {
        (true, ..) => Some(Cut::Content),
        (_, true, _) => Some(Cut::Time),
        (_, _, true) => Some(Cut::Size),
        _ => None,
    };
    Ok(Extracted {
        kind: Kind::Html,
        title: said.title(),
        content: content.rendered.content,
        metadata: said.metadata(&base),
        links: links::links(&dom, &shown, &base, options.limits.links),
        charset,
        matches,
        hidden_characters: shown.characters + content.rendered.dropped,
        needs_javascript: content.is_shell,
        unfiltered: shown.unfiltered || content.unfiltered,
        refreshes: links::refreshes(&dom, &base),
        frames: links::frames(&dom, &base),
        cut,
    })
}

#[derive(Debug, Default)]
struct Content {
    rendered: Rendered,
    unfiltered: bool,
    is_shell: bool,
}

struct Page<'a> {
    dom: &'a Dom,
    shown: &'a Shown,
    base: &'a Base,
    said: &'a Said<'a>,
    url: &'a Url,
    options: &'a ExtractOptions,
    budget: &'a Budget,
}

impl Page<'_> {
    fn limits(&self) -> &ExtractLimits {
        &self.options.limits
    }

    fn render(&self, top: NodeId, chosen: Option<&[bool]>) -> Rendered {
        let source = Source { dom: self.dom, shown: self.shown, chosen, base: self.base };
        render::render(source, top, self.options.format, self.limits().content, self.budget)
    }

    /// The elements that match, one after another.
    fn selected(&self, selector: &Selector) -> (Content, Option<usize>) {
        let found = selector.find(self.dom, self.budget);
        let mut content = Content::default();
        for &id in &found {
            let left = self.limits().content.saturating_sub(content.rendered.content.len());
            if left == 0 || self.budget.is_over() {
                content.rendered.cut = left == 0;
                break;
            }
            let rendered = self.render(id, None);
            content.rendered.dropped += rendered.dropped;
            content.rendered.cut |= rendered.cut;
            if rendered.content.is_empty() {
                continue;
            }
            if !content.rendered.content.is_empty() {
                content.rendered.content.push_str(self.separator());
            }
            content.rendered.content.push_str(&rendered.content);
        }
        (content, Some(found.len()))
    }

    fn separator(&self) -> &'static str {
        match self.options.format {
            Format::Markdown => "\n\n---\n\n",
            Format::Text => "\n\n",
            Format::Html => "\n<hr>\n",
        }
    }

    fn content(&self) -> Content {
        let words = self.words();
        if let Some(content) = self.body_of_linked_data(words) {
            return content;
        }
        let is_shell = words < SHELL && self.runs_scripts();
        let choice = match self.options.scope {
            Scope::Main => Some(finder::choose(self.dom, self.shown, self.url, self.budget)),
            Scope::Whole => None,
        };
        let Some(choice) = choice.filter(|_| !self.budget.is_over()) else {
            let unfiltered = self.options.scope == Scope::Main;
            return Content { rendered: self.render(NodeId::ROOT, None), unfiltered, is_shell };
        };
        // Where hardly anything was chosen the choice is no help to a reader.
        let is_nothing =
            choice.words < 8.0 || (choice.words < 25.0 && choice.words * 12.0 < choice.all);
        if is_nothing {
            let rendered = self.render(NodeId::ROOT, None);
            return Content { rendered, unfiltered: choice.all >= 8.0, is_shell };
        }
        let rendered = self.render(NodeId::ROOT, Some(&choice.chosen));
        Content { rendered, unfiltered: false, is_shell }
    }

    /// Words that are shown, up to a few more than a shell has; those for readers without scripts, too.
    fn words(&self) -> usize {
        let mut words = 0;
        let mut walk = self.dom.walk(NodeId::ROOT);
        while let Some(step) = walk.next() {
            let dom::Step::Enter(id) = step else { continue };
            if self.shown.is_hidden(id) || self.dom.name(id) == "noscript" && self.is_plea(id) {
                walk.prune(id);
            } else if let Some(text) = self.dom.text(id) {
                // Scripts without spaces between words have about so many letters to a word of others.
                let letters = text.chars().filter(|c| c.is_alphanumeric()).take(60 * BODY).count();
                words += text.split_whitespace().count().max(letters / 6);
            }
            if words > 10 * BODY {
                break;
            }
        }
        words
    }

    /// Whether it only asks for scripts to be turned on.
    fn is_plea(&self, id: NodeId) -> bool {
        let text = self.dom.all_text(id).to_ascii_lowercase();
        text.contains("javascript") && text.len() < 600
    }

    fn runs_scripts(&self) -> bool {
        self.dom.ids().any(|id| self.dom.name(id) == "script")
    }

    /// The text of an article that is only in linked data, where the page shows none.
    fn body_of_linked_data(&self, words: usize) -> Option<Content> {
        let body = self.said.article_body()?;
        let length = body.split_whitespace().count();
        if self.options.scope == Scope::Whole || length < BODY || words * 3 > length {
            return None;
        }
        let (text, dropped) = render::clean(body);
        let content = render::paragraphs(&text, self.options.format);
        let rendered = Rendered { content, dropped, cut: false };
        Some(Content { rendered, unfiltered: true, is_shell: true })
    }
}
