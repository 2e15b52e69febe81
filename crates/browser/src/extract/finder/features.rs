//! Every block of a page as a row of numbers, for the trees to judge.
//!
//! A row says what the block is like, what is around it on the page and in the tree, and what the page
//! is like. What the numbers mean is in the order of [`Rows::row`]; the trees know them by place, so a
//! change of them needs new trees.

use std::collections::HashSet;

use super::{
    blocks::{Block, Blocks, Count, share},
    hints::{self, Words},
    page::{self, Page},
    tree::Tree,
};
use crate::extract::{budget::Budget, dom::Dom, tags::heading_level};

/// The blocks before and after that a row tells of.
const NEIGHBOURS: [isize; 6] = [-3, -2, -1, 1, 2, 3];
/// The levels of block-level ancestors that a row tells of.
const LEVELS: [usize; 5] = [0, 1, 2, 4, 6];

/// Numbers of a block by itself.
const OWN: usize = 18;
/// Numbers of the repeated element that a block is in.
const REPEATED: usize = 5;

/// How many numbers a row has.
pub(super) const COUNT: usize = OWN
    + hints::COUNT
    + LEVELS.len() * 4
    + 4
    + NEIGHBOURS.len() * 3
    + 6
    + 5
    + REPEATED
    + 4
    + page::COUNT;

/// The rows of a page, one after another.
pub(super) struct Rows<'a> {
    dom: &'a Dom,
    blocks: &'a Blocks,
    page: &'a Page,
    tree: Tree,
    words_before: Vec<f32>,
    links_before: Vec<f32>,
    heading: Option<usize>,
    out: Vec<f32>,
}

/// The rows of a page.
pub(super) fn rows(dom: &Dom, blocks: &Blocks, page: &Page, budget: &Budget) -> Vec<f32> {
    let tree = Tree::of(dom, blocks, Words::all(), budget);
    let (mut words_before, mut links_before) = (vec![0.0], vec![0.0]);
    let (mut words, mut links) = (0.0, 0.0);
    for block in &blocks.blocks {
        words += block.count.words;
        links += block.count.link_words;
        words_before.push(words);
        links_before.push(links);
    }
    let heading = blocks.blocks.iter().position(|block| dom.name(block.element) == "h1");
    let out = Vec::with_capacity(blocks.blocks.len() * COUNT);
    let mut rows = Rows { dom, blocks, page, tree, words_before, links_before, heading, out };
    for index in 0..blocks.blocks.len() {
        if !budget.spend(COUNT) {
            break;
        }
        rows.row(index);
    }
    rows.out
}

#[expect(clippy::cast_precision_loss, reason = "counts of a page are small")]
fn float(number: usize) -> f32 {
    number as f32
}

impl Rows<'_> {
    fn row(&mut self, index: usize) {
        let Some(block) = self.blocks.blocks.get(index) else { return };
        let start = self.out.len();
        self.own(block);
        let distances = self.tree.distances(index);
        self.out.extend(distances.iter().map(|&distance| f32::from(distance)));
        self.levels(block);
        self.candidate(block);
        self.neighbours(index);
        self.windows(index);
        self.position(index);
        self.repeated(block);
        self.elsewhere(block);
        self.out.extend(self.page.facts);
        debug_assert_eq!(self.out.len() - start, COUNT);
    }

    fn own(&mut self, block: &Block) {
        let Count { words, link_words, characters, .. } = block.count;
        let (mut lists, mut tables, mut articles) = (0, 0, 0);
        for above in self.dom.ancestors(block.element).take(30) {
            match self.dom.name(above) {
                "ul" | "ol" | "dl" => lists += 1,
                "table" => tables += 1,
                "article" | "main" => articles += 1,
                _ => {}
            }
        }
        let numbers = [
            words.min(300.0),
            share(characters, words).min(30.0),
            share(link_words, words),
            block.count.sentence_ends,
            block.count.commas,
            share(block.count.sentence_ends, words),
            f32::from(u8::from(block.is_sentence)),
            share(block.count.capital_words, words),
            share(block.count.digits, characters),
            kind_of(self.dom.name(block.element)),
            f32::from(heading_level(self.dom.name(block.element))),
            float(self.tree.depth(block.element)),
            kind_of_sign(block.first),
            block.links,
            float(block.to - block.from),
            float(lists),
            float(tables),
            float(articles),
        ];
        self.out.extend::<[f32; OWN]>(numbers);
    }

    fn levels(&mut self, block: &Block) {
        let total = self.words_before.last().copied().unwrap_or(0.0);
        for level in LEVELS {
            let element = self.dom.ancestors(block.element).nth(level);
            let stats = element.map(|element| self.tree.stats(element)).unwrap_or_default();
            self.out.extend([
                stats.words.ln_1p(),
                share(stats.link_words, stats.words),
                share(stats.words, total),
                share(stats.sentence_words, stats.words),
            ]);
        }
    }

    fn candidate(&mut self, block: &Block) {
        let total = self.words_before.last().copied().unwrap_or(0.0);
        let best = self.tree.best();
        let stats = self.tree.stats(best);
        self.out.extend([
            float(self.tree.levels_up_from_best(self.dom, block.element)),
            share(stats.words, total),
            share(stats.link_words, stats.words),
            self.tree.score(block.element).ln_1p(),
        ]);
    }

    fn neighbours(&mut self, index: usize) {
        for offset in NEIGHBOURS {
            let near = index.checked_add_signed(offset).and_then(|at| self.blocks.blocks.get(at));
            self.out.extend(match near {
                Some(near) => [
                    near.count.words.min(300.0),
                    near.count.link_share(),
                    kind_of(self.dom.name(near.element)),
                ],
                None => [-1.0, -1.0, -1.0],
            });
        }
    }

    fn windows(&mut self, index: usize) {
        let count = self.blocks.blocks.len();
        for (before, after) in [(3, 4), (10, 11), (10, 0)] {
            let (from, to) = (index.saturating_sub(before), (index + after).min(count));
            let words = self.words_before[to] - self.words_before[from];
            let links = self.links_before[to] - self.links_before[from];
            self.out.extend([words / float((to - from).max(1)), share(links, words)]);
        }
    }

    fn position(&mut self, index: usize) {
        let count = self.blocks.blocks.len();
        let total = self.words_before.last().copied().unwrap_or(0.0);
        let from_heading = match self.heading {
            Some(heading) if heading > index => -float((heading - index).min(100)),
            Some(heading) => float((index - heading).min(100)),
            None => 101.0,
        };
        self.out.extend([
            float(index) / float(count.max(1)),
            share(self.words_before[index], total),
            from_heading,
            float(index.min(100)),
            float((count - index).min(100)),
        ]);
    }

    fn repeated(&mut self, block: &Block) {
        let found = self.tree.repeated(self.dom, block.element);
        let numbers: [f32; REPEATED] = match found {
            Some((level, count, stats)) => [
                float(level),
                float(count.min(100)),
                stats.words.ln_1p(),
                share(stats.link_words, stats.words),
                share(stats.sentence_words, stats.words),
            ],
            None => [-1.0, 0.0, 0.0, 0.0, 0.0],
        };
        self.out.extend(numbers);
    }

    fn elsewhere(&mut self, block: &Block) {
        let short = self.blocks.beginning(self.dom, block, 300);
        // Most blocks have no word of the title, and then it does not matter which words they have.
        let words = match self.page.may_share_title(&short) {
            true => page::words(&short),
            false => HashSet::new(),
        };
        let in_title = words.iter().filter(|word| self.page.title.contains(*word)).count();
        let is_known = block.count.words >= 4.0 && !self.page.known.is_empty() && {
            let known: String = short.chars().take(60).collect();
            self.page.known.contains(&known.to_ascii_lowercase())
        };
        let repeats = self.page.repeats.get(&block.hash).copied().unwrap_or(1);
        self.out.extend([
            share(float(in_title), float(words.len())),
            share(float(in_title), float(self.page.title.len())),
            f32::from(u8::from(is_known)),
            f32::from(u16::try_from(repeats).unwrap_or(u16::MAX)),
        ]);
    }
}

/// A number for the kind of an element.
fn kind_of(name: &str) -> f32 {
    match name {
        "p" => 10.0,
        "blockquote" => 9.0,
        "pre" => 8.0,
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => 7.0,
        "li" => 6.0,
        "dd" | "dt" => 5.0,
        "td" | "th" => 4.0,
        "figcaption" | "caption" => 3.0,
        "section" | "article" | "main" | "body" => 2.0,
        "div" => 1.0,
        _ => 0.0,
    }
}

/// A number for what a block begins with.
fn kind_of_sign(sign: char) -> f32 {
    match sign {
        '©' => 5.0,
        '»' | '«' | '›' | '‹' | '→' | '←' | '|' | '/' => 4.0,
        '$' | '€' | '£' | '¥' => 3.0,
        '#' | '@' | '+' | '•' | '·' => 2.0,
        sign if sign.is_numeric() => 1.0,
        _ => 0.0,
    }
}
