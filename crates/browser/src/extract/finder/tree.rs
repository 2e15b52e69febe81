//! What is known of the elements of a page: sums over their blocks, their purposes, how often they are
//! repeated, and which of them would be the content if one had to be.

use std::collections::HashMap;

use super::{
    blocks::{Block, Blocks},
    hints::{self, Words},
};
use crate::extract::{
    budget::Budget,
    dom::{Dom, NodeId, Step},
};

/// A distance that stands for none.
const FAR: u8 = 30;

/// Sums over the blocks in an element.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Stats {
    pub(super) words: f32,
    pub(super) link_words: f32,
    pub(super) sentence_words: f32,
}

/// What is known of the elements of a page.
#[derive(Debug)]
pub(super) struct Tree {
    stats: Vec<Stats>,
    scores: Vec<f32>,
    depths: Vec<u16>,
    repeats: Vec<u16>,
    distances: Vec<[u8; hints::COUNT]>,
    best: NodeId,
}

impl Tree {
    /// Looks at the elements.
    pub(super) fn of(dom: &Dom, blocks: &Blocks, words: &Words, budget: &Budget) -> Self {
        let mut tree = Self {
            stats: vec![Stats::default(); dom.len()],
            scores: vec![0.0; dom.len()],
            depths: vec![0; dom.len()],
            repeats: vec![0; dom.len()],
            distances: Vec::new(),
            best: NodeId::ROOT,
        };
        tree.sum(dom, blocks);
        tree.score_all(dom, blocks);
        tree.measure_distances(dom, blocks, words, budget);
        tree.count_repeats(dom);
        tree
    }

    /// Sums of an element.
    pub(super) fn stats(&self, element: NodeId) -> Stats {
        self.stats[element.index()]
    }

    /// How far an element is below the document.
    pub(super) fn depth(&self, element: NodeId) -> usize {
        usize::from(self.depths[element.index()])
    }

    /// How much an element is like content.
    pub(super) fn score(&self, element: NodeId) -> f32 {
        self.scores[element.index()]
    }

    /// The element that is most like content.
    pub(super) fn best(&self) -> NodeId {
        self.best
    }

    /// For a block, how far above it the nearest element of each purpose is.
    pub(super) fn distances(&self, block: usize) -> [u8; hints::COUNT] {
        self.distances.get(block).copied().unwrap_or([FAR; hints::COUNT])
    }

    /// How many levels above the best element the first is that holds the other one, too.
    pub(super) fn levels_up_from_best(&self, dom: &Dom, element: NodeId) -> usize {
        let (mut left, mut right, mut levels) = (self.best, element, 0);
        while left != right {
            if self.depth(left) >= self.depth(right) {
                let Some(above) = dom.parent(left) else { break };
                left = above;
                levels += 1;
            } else {
                let Some(above) = dom.parent(right) else { break };
                right = above;
            }
        }
        levels
    }

    /// The nearest element around one that has at least two like it beside it: how many levels up, how
    /// many there are, and the sums of what holds them.
    pub(super) fn repeated(&self, dom: &Dom, element: NodeId) -> Option<(usize, usize, Stats)> {
        let around = std::iter::once(element).chain(dom.ancestors(element)).take(8);
        let mut found = around.enumerate().filter(|(_, at)| self.repeats[at.index()] >= 3);
        let (level, at) = found.next()?;
        let stats = dom.parent(at).map(|parent| self.stats(parent)).unwrap_or_default();
        Some((level, usize::from(self.repeats[at.index()]), stats))
    }

    fn sum(&mut self, dom: &Dom, blocks: &Blocks) {
        for block in &blocks.blocks {
            let stats = &mut self.stats[block.element.index()];
            stats.words += block.count.words;
            stats.link_words += block.count.link_words;
            if block.is_sentence {
                stats.sentence_words += block.count.words;
            }
        }
        let mut depth = 0_u16;
        for step in dom.walk(NodeId::ROOT) {
            match step {
                Step::Enter(id) => {
                    self.depths[id.index()] = depth;
                    depth = depth.saturating_add(1);
                }
                Step::Leave(id) => {
                    depth = depth.saturating_sub(1);
                    let own = self.stats[id.index()];
                    if let Some(parent) = dom.parent(id) {
                        let stats = &mut self.stats[parent.index()];
                        stats.words += own.words;
                        stats.link_words += own.link_words;
                        stats.sentence_words += own.sentence_words;
                    }
                }
            }
        }
    }

    /// Gives each element near above a block of text a part of the block's worth, less the farther up.
    fn score_all(&mut self, dom: &Dom, blocks: &Blocks) {
        for block in &blocks.blocks {
            let worth = worth(block);
            if worth <= 0.0 {
                continue;
            }
            let around = std::iter::once(block.element).chain(dom.ancestors(block.element));
            for (element, part) in around.zip([0.5, 1.0, 0.5, 0.33, 0.25]) {
                self.scores[element.index()] += worth * part;
            }
        }
        let mut best = 0.0;
        for id in dom.ids() {
            let stats = self.stats(id);
            let link_share = if stats.words > 0.0 { stats.link_words / stats.words } else { 1.0 };
            let score = self.scores[id.index()] * (1.0 - link_share);
            if score > best {
                (best, self.best) = (score, id);
            }
        }
    }

    fn measure_distances(&mut self, dom: &Dom, blocks: &Blocks, words: &Words, budget: &Budget) {
        let none = [FAR; hints::COUNT];
        let mut open: Vec<[u8; hints::COUNT]> = Vec::new();
        let mut of_elements: HashMap<NodeId, [u8; hints::COUNT]> =
            blocks.blocks.iter().map(|block| (block.element, none)).collect();
        for step in dom.walk(NodeId::ROOT) {
            match step {
                Step::Enter(id) => {
                    let mut here = open.last().copied().unwrap_or([FAR; hints::COUNT]);
                    if let Some(element) = dom.element(id) {
                        let found = hints::of(element, words);
                        for (bit, distance) in here.iter_mut().enumerate() {
                            let is_here = found >> bit & 1 == 1;
                            *distance =
                                if is_here { 0 } else { distance.saturating_add(1).min(FAR) };
                        }
                    }
                    if let Some(wanted) = of_elements.get_mut(&id) {
                        *wanted = here;
                    }
                    open.push(here);
                }
                Step::Leave(_) => {
                    open.pop();
                    if !budget.spend(4) {
                        break;
                    }
                }
            }
        }
        let of_block = |block: &Block| of_elements.get(&block.element).copied().unwrap_or(none);
        self.distances = blocks.blocks.iter().map(of_block).collect();
    }

    /// Counts, for every element, those beside it that have its name and its first class.
    fn count_repeats(&mut self, dom: &Dom) {
        let mut groups: HashMap<(NodeId, &str, &str), Vec<NodeId>> = HashMap::new();
        for id in dom.ids() {
            let (Some(element), Some(parent)) = (dom.element(id), dom.parent(id)) else { continue };
            if matches!(
                &**element.name(),
                "p" | "br" | "span" | "a" | "script" | "option" | "b" | "i"
            ) {
                continue;
            }
            let class = element.attribute("class").unwrap_or_default();
            let first = class.split_ascii_whitespace().next().unwrap_or_default();
            groups.entry((parent, element.name(), first)).or_default().push(id);
        }
        for group in groups.values() {
            let count = u16::try_from(group.len()).unwrap_or(u16::MAX);
            for id in group {
                self.repeats[id.index()] = count;
            }
        }
    }
}

fn worth(block: &Block) -> f32 {
    let count = &block.count;
    if count.words < 8.0 {
        return 0.0;
    }
    (1.0 + count.commas.min(10.0) + (count.characters / 100.0).min(3.0))
        * (1.0 - count.link_share())
}
