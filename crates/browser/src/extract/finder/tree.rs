//! What is known of the elements of a page: sums over their blocks, their purposes, how often they are
//! repeated, and which of them would be the content if one had to be.

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
        const NONE: [u8; hints::COUNT] = [FAR; hints::COUNT];
        let mut open: Vec<[u8; hints::COUNT]> = Vec::new();
        // Where in the distances of elements that of an element is, for those that blocks are in.
        let mut places: Vec<Option<usize>> = vec![None; dom.len()];
        let mut of_elements = Vec::new();
        for block in &blocks.blocks {
            places[block.element.index()].get_or_insert_with(|| {
                of_elements.push(NONE);
                of_elements.len() - 1
            });
        }
        for step in dom.walk(NodeId::ROOT) {
            match step {
                Step::Enter(id) => {
                    let Some(element) = dom.element(id) else { continue };
                    let here = nearer(open.last().unwrap_or(&NONE), hints::of(element, words));
                    if let Some(place) = places[id.index()] {
                        of_elements[place] = here;
                    }
                    open.push(here);
                }
                Step::Leave(id) => {
                    if dom.element(id).is_some() {
                        open.pop();
                    }
                    if !budget.spend(4) {
                        break;
                    }
                }
            }
        }
        let of_block = |block: &Block| places[block.element.index()].map(|at| of_elements[at]);
        let distances = blocks.blocks.iter().map(|block| of_block(block).unwrap_or(NONE));
        self.distances = distances.collect();
    }

    /// Counts, for every element, those beside it that have its name and its first class; of fewer than
    /// three nothing is asked.
    fn count_repeats(&mut self, dom: &Dom) {
        let mut beside: Vec<(&str, &str, NodeId)> = Vec::new();
        for parent in dom.ids() {
            beside.clear();
            beside.extend(dom.children(parent).filter_map(|id| {
                let element = dom.element(id)?;
                let (name, class) = (&**element.name(), element.attribute("class"));
                let first = class.unwrap_or_default().split_ascii_whitespace().next();
                may_repeat(name).then_some((name, first.unwrap_or_default(), id))
            }));
            if beside.len() < 3 {
                continue;
            }
            beside.sort_unstable();
            for group in beside.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
                let count = u16::try_from(group.len()).unwrap_or(u16::MAX);
                group.iter().for_each(|(.., id)| self.repeats[id.index()] = count);
            }
        }
    }
}

/// Whether an element that is repeated is more than a part of a text.
fn may_repeat(name: &str) -> bool {
    !matches!(name, "p" | "br" | "span" | "a" | "script" | "option" | "b" | "i")
}

/// The distances of an element from those of the one around it, and its own purposes.
fn nearer(around: &[u8; hints::COUNT], own: u32) -> [u8; hints::COUNT] {
    let mut here = around.map(|distance| distance.saturating_add(1).min(FAR));
    if own != 0 {
        for (bit, distance) in here.iter_mut().enumerate() {
            if own >> bit & 1 == 1 {
                *distance = 0;
            }
        }
    }
    here
}

fn worth(block: &Block) -> f32 {
    let count = &block.count;
    if count.words < 8.0 {
        return 0.0;
    }
    (1.0 + count.commas.min(10.0) + (count.characters / 100.0).min(3.0))
        * (1.0 - count.link_share())
}
