//! The text of one paragraph while it is read: white space collapsed, characters cleaned, marks of
//! emphasis, code and links put around what they hold.

use super::{clean::Cleaner, escape};

/// What a stretch of text is marked as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Strong,
    Emphasis,
    Deleted,
}

impl Mark {
    fn sign(self) -> &'static str {
        match self {
            Self::Strong => "**",
            Self::Emphasis => "*",
            Self::Deleted => "~~",
        }
    }
}

/// A place in the text where a mark begins.
#[derive(Debug)]
pub(super) struct Start {
    at: usize,
    /// Whether it is in a stretch of the same kind.
    inner: bool,
}

/// A line break that the page wants, while the paragraph is read.
const BREAK: char = '\n';

/// The text of a paragraph.
#[derive(Debug, Default)]
pub(super) struct Inline {
    text: String,
    space: bool,
    plain: bool,
    in_cell: bool,
    code: usize,
    open: [usize; 4],
    /// The mark that was closed last, and where.
    closed: Option<(Mark, usize)>,
    /// Characters that nobody would have seen.
    pub(super) dropped: usize,
}

impl Inline {
    /// Text without marks, or with.
    pub(super) fn new(plain: bool) -> Self {
        Self { plain, ..Self::default() }
    }

    /// The text of a cell of a table, where a bar has a meaning.
    pub(super) fn for_cell(plain: bool) -> Self {
        Self { plain, in_cell: true, ..Self::default() }
    }

    /// Whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim_matches([' ', BREAK]).is_empty()
    }

    /// Adds text of the page.
    pub(super) fn push(&mut self, text: &str) {
        let mut cleaner = Cleaner::default();
        let mut characters = text.chars();
        while let Some(c) = characters.next() {
            let rest = characters.as_str();
            let Some(c) = cleaner.keep(c, rest.chars().next()) else { continue };
            if c.is_whitespace() {
                self.space = true;
                continue;
            }
            self.settle_space();
            if self.plain || self.code > 0 {
                self.text.push(c);
            } else {
                let previous = self.text.chars().next_back().unwrap_or(' ');
                escape::push(&mut self.text, c, previous, rest, self.in_cell);
            }
        }
        self.dropped += cleaner.dropped;
    }

    /// Adds what is Markdown already.
    pub(super) fn push_markup(&mut self, markup: &str) {
        self.settle_space();
        self.text.push_str(markup);
    }

    /// Adds a space, where there is none.
    pub(super) fn push_space(&mut self) {
        self.space = true;
    }

    /// Adds a line break.
    pub(super) fn push_break(&mut self) {
        self.space = false;
        if !self.text.is_empty() {
            self.text.push(BREAK);
        }
    }

    fn settle_space(&mut self) {
        let wanted = std::mem::take(&mut self.space);
        if wanted && !self.text.is_empty() && !self.text.ends_with([' ', BREAK]) {
            self.text.push(' ');
        }
    }

    /// Begins a stretch of a mark.
    pub(super) fn open(&mut self, mark: Mark) -> Start {
        let depth = &mut self.open[mark as usize];
        *depth += 1;
        Start { inner: *depth > 1, at: self.text.len() }
    }

    /// Ends a stretch of a mark.
    pub(super) fn close(&mut self, mark: Mark, start: &Start) {
        let depth = &mut self.open[mark as usize];
        *depth = depth.saturating_sub(1);
        if start.inner || self.plain || self.code > 0 {
            return;
        }
        let Some(held) = self.text.get(start.at..) else { return };
        let inner = held.trim_matches([' ', BREAK]);
        if inner.is_empty() || inner.contains(BREAK) {
            return;
        }
        let from = start.at + (held.len() - held.trim_start_matches([' ', BREAK]).len());
        let to = from + inner.len();
        self.text.insert_str(to, mark.sign());
        if self.closed == Some((mark, from)) {
            let length = mark.sign().len();
            self.text.replace_range(from - length..from, "");
            self.closed = Some((mark, to));
            return;
        }
        self.text.insert_str(from, mark.sign());
        self.closed = Some((mark, to + 2 * mark.sign().len()));
    }

    /// Begins a span of code.
    pub(super) fn open_code(&mut self) -> Start {
        self.settle_space();
        self.code += 1;
        Start { at: self.text.len(), inner: self.code > 1 }
    }

    /// Ends a span of code.
    pub(super) fn close_code(&mut self, start: &Start) {
        self.code = self.code.saturating_sub(1);
        if start.inner || self.plain {
            return;
        }
        self.replace(start.at, |held| {
            let text = held.replace(BREAK, " ");
            escape::code(if text.trim().is_empty() { &text } else { text.trim() })
        });
    }

    /// Begins a link.
    pub(super) fn open_link(&mut self) -> Start {
        self.settle_space();
        self.open[3] += 1;
        Start { at: self.text.len(), inner: self.open[3] > 1 }
    }

    /// Ends a link that leads to an address.
    pub(super) fn close_link(&mut self, start: &Start, url: Option<&str>) {
        self.open[3] = self.open[3].saturating_sub(1);
        let Some(url) = url.filter(|_| !start.inner && !self.plain && self.code == 0) else {
            return;
        };
        self.replace(start.at, |held| {
            let text = held.trim_matches([' ', BREAK]).replace(BREAK, " ");
            format!("[{text}]({})", escape::target(url))
        });
    }

    /// Replaces what was added since a place, but for blanks.
    fn replace(&mut self, at: usize, make: impl FnOnce(&str) -> String) {
        let Some(held) = self.text.get(at..) else { return };
        if held.trim_matches([' ', BREAK]).is_empty() {
            return;
        }
        let made = make(held);
        self.text.truncate(at);
        self.text.push_str(&made);
        self.closed = None;
    }

    /// The paragraphs that were read, each of lines; the text is empty after it.
    pub(super) fn take(&mut self) -> Vec<Vec<String>> {
        self.space = false;
        self.closed = None;
        let text = std::mem::take(&mut self.text);
        let mut paragraphs = vec![Vec::new()];
        for line in text.split(BREAK).map(|line| line.trim_matches(' ')) {
            match paragraphs.last_mut() {
                Some(last) if !line.is_empty() => last.push(line.to_owned()),
                Some(last) if last.is_empty() => {}
                _ => paragraphs.push(Vec::new()),
            }
        }
        paragraphs.retain(|paragraph| !paragraph.is_empty());
        paragraphs
    }

    /// All of it on one line, breaks joined by something else; the text is empty after it.
    pub(super) fn take_line(&mut self, joint: &str) -> String {
        self.take().concat().join(joint)
    }
}
