//! The walk that writes blocks: headings, paragraphs, lists, quotes, code, tables.

mod cells;
mod lists;

use crate::extract::{
    budget::Budget,
    dom::{NodeId, Step},
    tags::{heading_level, is_block},
};

use super::{
    Rendered, Source, escape,
    inline::{Inline, Mark, Start},
    out::Out,
    pre,
};

/// Longest text of an image, in characters.
const MAX_ALTERNATIVE: usize = 200;

/// What an element that is open needs when it is left.
#[derive(Debug)]
enum Open {
    Mark(NodeId, Mark, Start),
    Code(NodeId, Start),
    Link(NodeId, Start, Option<String>),
    /// A link around blocks: the first text in it becomes the link's.
    Around(NodeId, Option<String>),
    List {
        id: NodeId,
        number: Option<i64>,
        indents: bool,
        begun: usize,
    },
    Item(NodeId),
    Quote(NodeId),
    Heading(NodeId, u8),
}

impl Open {
    fn id(&self) -> NodeId {
        match self {
            Self::Mark(id, ..)
            | Self::Code(id, _)
            | Self::Link(id, ..)
            | Self::Around(id, _)
            | Self::List { id, .. }
            | Self::Item(id)
            | Self::Quote(id)
            | Self::Heading(id, _) => *id,
        }
    }
}

struct Walker<'a> {
    source: Source<'a>,
    budget: &'a Budget,
    plain: bool,
    out: Out,
    inline: Inline,
    open: Vec<Open>,
    dropped: usize,
}

/// Renders as Markdown, or plainly.
pub(super) fn render(
    source: Source<'_>,
    top: NodeId,
    plain: bool,
    limit: usize,
    budget: &Budget,
) -> Rendered {
    let mut walker = Walker {
        source,
        budget,
        plain,
        out: Out::new(plain),
        inline: Inline::new(plain),
        open: Vec::new(),
        dropped: 0,
    };
    let mut walk = source.dom.walk(top);
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(id) => {
                if walker.enter(id) {
                    walk.prune(id);
                    walker.leave(id);
                }
            }
            Step::Leave(id) => walker.leave(id),
        }
        if walker.out.len() > limit || !budget.spend(1) {
            break;
        }
    }
    walker.flush();
    let dropped = walker.dropped + walker.inline.dropped;
    Rendered { content: walker.out.into_text(), dropped, cut: false }
}

impl Walker<'_> {
    /// Enters a node; whether what is in it was dealt with.
    fn enter(&mut self, id: NodeId) -> bool {
        if self.source.shown.is_hidden(id) {
            return true;
        }
        if let Some(text) = self.source.dom.text(id) {
            if self.source.is_chosen(id) {
                self.budget.spend(text.len() / 16);
                self.inline.push(text);
            } else {
                self.inline.push_space();
            }
            return true;
        }
        let name = self.source.dom.name(id);
        if is_block(name) {
            self.flush();
            return self.enter_block(id, name);
        }
        self.enter_inline(id, name)
    }

    fn enter_inline(&mut self, id: NodeId, name: &str) -> bool {
        let mark = match name {
            "b" | "strong" => Some(Mark::Strong),
            "i" | "em" | "cite" | "dfn" | "var" => Some(Mark::Emphasis),
            "del" | "s" | "strike" => Some(Mark::Deleted),
            _ => None,
        };
        if let Some(mark) = mark {
            let start = self.inline.open(mark);
            self.open.push(Open::Mark(id, mark, start));
            return false;
        }
        match name {
            "br" => {
                self.inline.push_break();
                true
            }
            "code" | "kbd" | "samp" | "tt" => {
                let start = self.inline.open_code();
                self.open.push(Open::Code(id, start));
                false
            }
            "a" => {
                self.enter_link(id);
                false
            }
            "img" => {
                self.image(id);
                true
            }
            "math" => self.math(id),
            "button" => {
                self.inline.push_space();
                false
            }
            _ => false,
        }
    }

    fn enter_link(&mut self, id: NodeId) {
        let href = self.source.dom.element(id).and_then(|element| element.attribute("href"));
        let url = href.and_then(|href| self.source.base.link(href)).map(String::from);
        let holds_blocks =
            self.source.dom.descendants(id).take(64).any(|at| is_block(self.source.dom.name(at)));
        if holds_blocks {
            self.flush();
            self.open.push(Open::Around(id, url));
        } else {
            let start = self.inline.open_link();
            self.open.push(Open::Link(id, start, url));
        }
    }

    /// An image that is told in words, where its words belong to what is chosen.
    fn image(&mut self, id: NodeId) {
        let Some(image) = self.source.dom.element(id) else { return };
        let alternative = image.attribute("alt").unwrap_or_default().trim();
        if self.plain || self.source.chosen.is_some() || alternative.is_empty() {
            return;
        }
        let Some(url) = image.attribute("src").and_then(|source| self.source.base.source(source))
        else {
            return;
        };
        let (words, dropped) = super::clean(alternative);
        self.dropped += dropped;
        let words: String = words.chars().take(MAX_ALTERNATIVE).collect();
        let mut text = Inline::new(false);
        text.push(&words);
        let text = text.take_line(" ");
        self.inline.push_markup(&format!("![{text}]({})", escape::target(url.as_str())));
    }

    /// A formula by its TeX, where the page gives it.
    fn math(&mut self, id: NodeId) -> bool {
        let dom = self.source.dom;
        let mut notes = dom.descendants(id).filter(|&at| {
            let encoding = dom.element(at).and_then(|element| element.attribute("encoding"));
            encoding.is_some_and(|encoding| encoding.contains("tex"))
        });
        let chosen =
            dom.descendants(id).any(|at| dom.text(at).is_some() && self.source.is_chosen(at));
        let Some(note) = notes.next().filter(|_| chosen) else { return !chosen };
        let (tex, dropped) = super::clean(&dom.all_text(note));
        self.dropped += dropped;
        let tex = tex.split_whitespace().collect::<Vec<_>>().join(" ");
        self.inline.push_markup(&if self.plain { tex } else { format!("${tex}$") });
        true
    }

    fn enter_block(&mut self, id: NodeId, name: &str) -> bool {
        match name {
            "pre" | "xmp" | "listing" | "plaintext" => self.pre(id),
            "table" => return self.table(id),
            "hr" => self.rule(id),
            "blockquote" => {
                self.out.open_quote();
                self.open.push(Open::Quote(id));
                return false;
            }
            "ul" | "ol" | "menu" | "dir" | "dl" => {
                self.list(id, name);
                return false;
            }
            "li" | "dd" => {
                self.item(id);
                return false;
            }
            _ => {
                let level = heading_level(name);
                if level > 0 {
                    self.open.push(Open::Heading(id, level));
                }
                return false;
            }
        }
        true
    }

    fn rule(&mut self, id: NodeId) {
        if !self.plain && self.source.chosen.is_none() && self.out.len() > 0 {
            let more = self.source.dom.next_sibling(id).is_some();
            if more {
                self.out.block("---");
            }
        }
    }

    fn pre(&mut self, id: NodeId) {
        let (text, dropped) = pre::text(self.source, id);
        self.dropped += dropped;
        self.budget.spend(text.len() / 16);
        if text.trim().is_empty() {
            return;
        }
        if self.plain {
            self.out.block(&text);
            return;
        }
        let fence = escape::fence(&text);
        let language = pre::language(self.source.dom, id);
        self.out.block(&format!("{fence}{language}\n{text}\n{fence}"));
    }

    fn leave(&mut self, id: NodeId) {
        if self.source.shown.is_hidden(id) {
            return;
        }
        if is_block(self.source.dom.name(id)) {
            self.flush();
        }
        self.leave_inline(id);
    }

    /// Closes what was opened for a node.
    fn leave_inline(&mut self, id: NodeId) {
        if self.source.dom.name(id) == "button" {
            self.inline.push_space();
        }
        if self.open.last().is_none_or(|open| open.id() != id) {
            return;
        }
        match self.open.pop() {
            Some(Open::Mark(_, mark, start)) => self.inline.close(mark, &start),
            Some(Open::Code(_, start)) => self.inline.close_code(&start),
            Some(Open::Link(_, start, url)) => self.inline.close_link(&start, url.as_deref()),
            Some(Open::Around(..)) => self.flush(),
            Some(Open::List { indents: true, .. } | Open::Quote(_)) => self.out.close(),
            Some(Open::Item(_)) => {
                // An item without text leaves no line, and the next one is no farther from the last.
                self.out.close();
            }
            Some(Open::List { .. } | Open::Heading(..)) | None => {}
        }
    }

    /// Writes the paragraph that was read.
    fn flush(&mut self) {
        if self.inline.is_empty() {
            self.dropped += std::mem::take(&mut self.inline.dropped);
            self.inline.take();
            return;
        }
        let paragraphs = self.inline.take();
        let heading = self.open.iter().rev().find_map(|open| match open {
            Open::Heading(_, level) => Some(*level),
            _ => None,
        });
        let around = self.open.iter_mut().rev().find_map(|open| match open {
            Open::Around(_, url) => url.take(),
            _ => None,
        });
        if let Some(level) = heading.filter(|_| !self.plain) {
            let line = linked(&paragraphs.concat().join(" "), around.as_deref());
            self.out.block(&format!("{} {line}", "#".repeat(level.into())));
            return;
        }
        let mut around = around.filter(|_| !self.plain);
        for paragraph in paragraphs {
            self.paragraph(&paragraph, around.take().as_deref());
        }
    }

    fn paragraph(&mut self, lines: &[String], around: Option<&str>) {
        if self.plain {
            self.out.block(&lines.join("\n"));
            return;
        }
        let text = match around {
            Some(_) => linked(&lines.join(" "), around),
            None => lines.iter().map(|line| escape::line(line)).collect::<Vec<_>>().join("\\\n"),
        };
        self.out.block(&text);
    }
}

/// A line as the text of a link, unless it is one.
fn linked(line: &str, url: Option<&str>) -> String {
    match url {
        Some(url) if !line.contains("](") => format!("[{line}]({})", escape::target(url)),
        _ => line.to_owned(),
    }
}
