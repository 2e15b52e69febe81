//! Parsing under caps of depth, nodes, attributes and time.
//!
//! html5ever parses as the HTML standard says, which is quadratic in the depth of open elements and
//! in the attributes of one tag. So its input and its tokens are watched:
//!
//! - a start tag that would open an element deeper than the cap is left out, and so is its end tag:
//!   what is in it stays, flattened;
//! - text is fed piece by piece, cut before each `<`, and a tag that has more attributes than anyone
//!   writes loses the rest of them;
//! - past the node cap or the deadline nothing more is read, and the tree of what was read is given.

use std::{
    cell::{Cell, RefCell},
    ops::Range,
};

use html5ever::{
    LocalName, TokenizerResult,
    interface::Tracer,
    tendril::StrTendril,
    tokenizer::{
        BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
    },
    tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink},
};

use super::{Dom, NodeId, sink::Sink};
use crate::extract::{budget::Budget, options::ExtractLimits};

/// Most attributes of one tag.
const MAX_ATTRIBUTES: usize = 512;
/// Most bytes of a text: what a buffer of html5ever's holds, and less.
const MAX_BYTES: usize = 1 << 30;

/// A parsed page.
#[derive(Debug)]
pub(in crate::extract) struct Parsed {
    /// Its tree.
    pub(in crate::extract) dom: Dom,
    /// Whether the page was longer than what was read.
    pub(in crate::extract) cut: bool,
}

/// Parses a page.
pub(in crate::extract) fn parse(html: &str, limits: &ExtractLimits, budget: &Budget) -> Parsed {
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let capped = Capped::new(TreeBuilder::new(Sink::new(), options), limits.depth);
    let tokenizer = Tokenizer::new(capped, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut attributes = Attributes::default();
    let whole = html;
    let html = head(whole);
    let mut cut = html.len() < whole.len();
    // One buffer, which the pieces and then the texts of the tree are parts of.
    let text = StrTendril::from_slice(html);
    let mut from = 0;
    for piece in Pieces(html) {
        if tokenizer.sink.builder.sink.count() >= limits.nodes
            || !budget.spend(1 + piece.len() / 64)
        {
            cut = true;
            break;
        }
        for part in attributes.trim(piece, tokenizer.sink.progress.take()) {
            if let Some(part) = part_of(&text, from, part) {
                input.push_back(part);
                while let TokenizerResult::Script(_) = tokenizer.feed(&input) {}
            }
        }
        from += piece.len();
    }
    tokenizer.end();
    Parsed { dom: tokenizer.sink.builder.sink.finish(), cut }
}

/// What of a text fits into one buffer.
fn head(text: &str) -> &str {
    let end = (0..=text.len().min(MAX_BYTES)).rev().find(|&at| text.is_char_boundary(at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// A part of the piece that begins at `from`, where there is anything in it.
fn part_of(text: &StrTendril, from: usize, part: Range<usize>) -> Option<StrTendril> {
    let length = u32::try_from(part.len()).ok().filter(|&length| length > 0)?;
    text.try_subtendril(u32::try_from(from + part.start).ok()?, length).ok()
}

/// The text, cut before each `<`, so that a piece holds at most one tag.
struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.0.is_empty() {
            return None;
        }
        let first = self.0.chars().next().map_or(0, char::len_utf8);
        let rest = self.0.get(first..).unwrap_or_default();
        let end = rest.find('<').map_or(self.0.len(), |at| at + first);
        let (piece, rest) = self.0.split_at_checked(end).unwrap_or((self.0, ""));
        self.0 = rest;
        Some(piece)
    }
}

/// Where in a tag the text so far ends.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    Between,
    Name,
    Value,
    Quoted(u8),
}

/// Counts the attributes of the tag that is open, and leaves out those over the cap.
#[derive(Debug, Default)]
struct Attributes {
    place: Place,
    count: usize,
}

impl Attributes {
    /// What of a piece is to be fed: what is before the cut, and what is after it. `progress` says
    /// whether the tokenizer gave a token since the last piece, which it does not within a tag.
    fn trim(&mut self, piece: &str, progress: bool) -> [Range<usize>; 2] {
        let mut from = 0;
        if progress || self.place == Place::Outside {
            let opens = piece.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic);
            self.count = 0;
            self.place = if opens { Place::Name } else { Place::Outside };
            from = 1;
        }
        let mut cut = None;
        for (at, byte) in piece.bytes().enumerate().skip(from) {
            if self.place == Place::Outside {
                break;
            }
            self.step(byte);
            if self.count > MAX_ATTRIBUTES {
                let cut = *cut.get_or_insert(at);
                if self.place == Place::Outside {
                    return [0..cut, at..piece.len()];
                }
            }
        }
        [0..cut.unwrap_or(piece.len()), 0..0]
    }

    fn step(&mut self, byte: u8) {
        let space = byte.is_ascii_whitespace() || byte == b'/';
        self.place = match self.place {
            Place::Quoted(quote) if byte == quote => Place::Between,
            Place::Quoted(quote) => Place::Quoted(quote),
            Place::Outside => Place::Outside,
            _ if byte == b'>' => Place::Outside,
            Place::Value if matches!(byte, b'"' | b'\'') => Place::Quoted(byte),
            Place::Name if byte == b'=' => Place::Value,
            Place::Name | Place::Value if space => Place::Between,
            Place::Between if byte == b'=' => Place::Value,
            Place::Between if !space => {
                self.count += 1;
                Place::Name
            }
            place => place,
        };
    }
}

/// A tree builder that opens no element deeper than a cap.
struct Capped {
    builder: TreeBuilder<NodeId, Sink>,
    cap: usize,
    /// No fewer elements are open than this says, as far as is known.
    depth: Cell<usize>,
    left_out: RefCell<Vec<LocalName>>,
    progress: Cell<bool>,
}

impl Capped {
    fn new(builder: TreeBuilder<NodeId, Sink>, cap: usize) -> Self {
        let (depth, left_out, progress) =
            <(Cell<usize>, RefCell<Vec<LocalName>>, Cell<bool>)>::default();
        Self { builder, cap, depth, left_out, progress }
    }

    /// Whether a tag is one of an element that would be too deep.
    fn is_left_out(&self, tag: &Tag) -> bool {
        match tag.kind {
            TagKind::StartTag if is_leaf(&tag.name) => false,
            TagKind::StartTag => {
                let out = self.is_full();
                if out {
                    self.left_out.borrow_mut().push(tag.name.clone());
                }
                out
            }
            TagKind::EndTag => {
                let mut left_out = self.left_out.borrow_mut();
                left_out.pop_if(|name| *name == tag.name).is_some()
            }
        }
    }

    /// Whether as many elements are open as may be. Counts them only where the start tags since the
    /// last count could have filled the stack.
    fn is_full(&self) -> bool {
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() < self.cap {
            return false;
        }
        let open = Open(Cell::new(0));
        self.builder.trace_handles(&open);
        self.depth.set(open.0.get());
        self.depth.get() >= self.cap
    }
}

/// Counts the handles that the tree builder holds: the open elements, and a few more.
struct Open(Cell<usize>);

impl Tracer for Open {
    type Handle = NodeId;

    fn trace_handle(&self, _node: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}

impl TokenSink for Capped {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        match &token {
            Token::ParseError(_) => return TokenSinkResult::Continue,
            Token::TagToken(tag) if self.is_left_out(tag) => {
                self.progress.set(true);
                return TokenSinkResult::Continue;
            }
            _ => self.progress.set(true),
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Elements that hold no others: they make nothing deeper, and the tokenizer reads on differently
/// after some of them.
fn is_leaf(name: &str) -> bool {
    is_void(name)
        || matches!(
            name,
            "script" | "style" | "title" | "textarea" | "iframe" | "noembed" | "noframes" | "xmp"
        )
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "source"
            | "track"
            | "wbr"
    )
}
