//! A page as a row of blocks: the runs of text that no block-level element breaks.

use crate::extract::{
    budget::Budget,
    dom::{Dom, NodeId, Step},
    hidden::Shown,
    tags::is_block,
};

/// Numbers about a run of text.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Count {
    pub(super) words: f32,
    pub(super) link_words: f32,
    pub(super) characters: f32,
    pub(super) capital_words: f32,
    pub(super) digits: f32,
    pub(super) sentence_ends: f32,
    pub(super) commas: f32,
}

impl Count {
    /// Adds a text.
    fn add(&mut self, text: &str, in_link: bool) {
        let before = self.words;
        let mut in_word = false;
        let mut ideographs = 0.0;
        for c in text.chars() {
            if c.is_ascii_whitespace() {
                in_word = false;
                continue;
            }
            self.characters += 1.0;
            match c {
                '0'..='9' => self.digits += 1.0,
                '.' | '!' | '?' | '。' | '！' | '？' | '।' => self.sentence_ends += 1.0,
                ',' | '、' | '，' | ';' => self.commas += 1.0,
                _ => {}
            }
            if is_ideograph(c) {
                ideographs += 0.5;
                in_word = false;
            } else if c.is_alphanumeric() {
                if !in_word {
                    self.words += 1.0;
                    self.capital_words += f32::from(u8::from(c.is_uppercase()));
                }
                in_word = true;
            } else if !matches!(c, '\'' | '’' | '-' | '.' | '_') {
                in_word = false;
            }
        }
        self.words += ideographs;
        if in_link {
            self.link_words += self.words - before;
        }
    }

    /// The share of its words that are in links.
    pub(super) fn link_share(&self) -> f32 {
        share(self.link_words, self.words)
    }
}

/// A part of a whole, and nothing where there is no whole.
pub(super) fn share(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Characters of scripts that put no spaces between words.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{A4CF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}'
        | '\u{E00}'..='\u{EFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// A run of text.
#[derive(Debug)]
pub(super) struct Block {
    /// The block-level element that it is directly in.
    pub(super) element: NodeId,
    /// Where its text nodes are in [`Blocks::texts`].
    pub(super) from: usize,
    /// Where they end.
    pub(super) to: usize,
    /// Numbers about its text.
    pub(super) count: Count,
    /// How many links begin in it.
    pub(super) links: f32,
    /// Whether it ends as a sentence does.
    pub(super) is_sentence: bool,
    /// What it begins with.
    pub(super) first: char,
    /// Numbers from the letters of the text, to tell the same text again.
    pub(super) hash: u64,
}

/// The blocks of a page.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub(super) blocks: Vec<Block>,
    pub(super) texts: Vec<NodeId>,
}

impl Blocks {
    /// The first characters of a block's text on one line, at most so many.
    pub(super) fn beginning(&self, dom: &Dom, block: &Block, most: usize) -> String {
        let texts = self.texts.get(block.from..block.to).unwrap_or_default();
        let characters = texts.iter().filter_map(|&id| dom.text(id)).flat_map(str::chars);
        let (mut line, mut count, mut space) = (String::new(), 0, false);
        for c in characters {
            if c.is_whitespace() {
                space = count > 0;
                continue;
            }
            for c in std::mem::take(&mut space).then_some(' ').into_iter().chain([c]) {
                if count == most {
                    return line;
                }
                line.push(c);
                count += 1;
            }
        }
        line
    }

    /// The text of a block, on one line.
    pub(super) fn text(&self, dom: &Dom, block: &Block) -> String {
        let texts = self.texts.get(block.from..block.to).unwrap_or_default();
        let joined: String = texts.iter().filter_map(|&id| dom.text(id)).collect();
        joined.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The blocks of what is shown of a page.
pub(super) fn find(dom: &Dom, shown: &Shown, budget: &Budget) -> Blocks {
    let mut builder = Builder {
        dom,
        out: Blocks::default(),
        from: 0,
        elements: Vec::new(),
        linked: Vec::new(),
        links: 0,
        begun: 0.0,
    };
    let mut walk = dom.walk(NodeId::ROOT);
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(id) if shown.is_hidden(id) => {
                if dom.name(id) != "script" && is_block(dom.name(id)) {
                    builder.end();
                }
                walk.prune(id);
            }
            Step::Enter(id) => {
                if !builder.enter(id, budget) {
                    break;
                }
            }
            Step::Leave(id) => builder.leave(id),
        }
    }
    builder.end();
    builder.out
}

struct Builder<'a> {
    dom: &'a Dom,
    out: Blocks,
    from: usize,
    elements: Vec<NodeId>,
    linked: Vec<bool>,
    links: usize,
    begun: f32,
}

impl Builder<'_> {
    fn enter(&mut self, id: NodeId, budget: &Budget) -> bool {
        if let Some(text) = self.dom.text(id) {
            if !text.trim_ascii().is_empty() {
                self.out.texts.push(id);
                self.linked.push(self.links > 0);
            }
            return budget.spend(1 + text.len() / 16);
        }
        match self.dom.name(id) {
            "" => {}
            "a" => {
                self.links += 1;
                self.begun += 1.0;
            }
            name if is_block(name) => {
                self.end();
                self.elements.push(id);
            }
            _ => {}
        }
        budget.spend(1)
    }

    fn leave(&mut self, id: NodeId) {
        match self.dom.name(id) {
            "a" => self.links = self.links.saturating_sub(1),
            name if is_block(name) => {
                self.end();
                self.elements.pop();
            }
            _ => {}
        }
    }

    /// Ends the block that is being read.
    fn end(&mut self) {
        let (from, to) = (self.from, self.out.texts.len());
        self.from = to;
        let begun = std::mem::take(&mut self.begun);
        if from == to {
            return;
        }
        let mut block = Block {
            element: self.elements.last().copied().unwrap_or(NodeId::ROOT),
            from,
            to,
            count: Count::default(),
            links: begun,
            is_sentence: false,
            first: ' ',
            hash: 0xcbf2_9ce4_8422_2325,
        };
        let texts = self.out.texts.get(from..to).unwrap_or_default();
        let linked = self.linked.get(from..to).unwrap_or_default();
        for (&id, &linked) in texts.iter().zip(linked) {
            let Some(text) = self.dom.text(id) else { continue };
            block.count.add(text, linked);
            block.read(text);
        }
        self.out.blocks.push(block);
    }
}

impl Block {
    fn read(&mut self, text: &str) {
        let text = text.trim();
        if self.first == ' ' {
            self.first = text.chars().next().unwrap_or(' ');
        }
        if let Some(last) = text.trim_end_matches(['"', '”', '’', '»', ')']).chars().next_back()
        {
            self.is_sentence = matches!(last, '.' | '!' | '?' | ':' | '…' | '。' | '！' | '？');
        }
        for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}
