//! Which text of a page is its main content.
//!
//! The page is a row of blocks (`blocks`), each of them a row of numbers (`features`), and boosted trees
//! (`trees`, made from pages with ground truth) say for each how likely it is content. From what
//! likelihood on a block is taken depends on the page: where the content is plain, more is asked for,
//! so that what is merely near it stays out. A table of data is taken whole or not at all.

mod blocks;
mod features;
mod hints;
mod judge;
mod page;
mod tree;
mod trees;

use std::collections::HashMap;

use url::Url;

use super::{
    budget::Budget,
    dom::{Dom, NodeId},
    hidden::Shown,
    render,
    tags::heading_level,
};
use blocks::{Block, Blocks};

/// A share of likelihoods from which on a block can be a part of the content at all.
const LIKELY: f32 = 0.4;
/// The least likelihood that is asked for, and the most.
const ASKED: (f32, f32) = (0.35, 0.75);
/// How plain the content is where the least is asked for, and where the most is.
const PLAIN: (f32, f32) = (0.7, 0.95);

/// What was chosen of a page.
#[derive(Debug)]
pub(super) struct Choice {
    /// Whether each node is a text of the main content.
    pub(super) chosen: Vec<bool>,
    /// Words that are chosen.
    pub(super) words: f32,
    /// Words that are shown.
    pub(super) all: f32,
}

/// Chooses the main content.
pub(super) fn choose(dom: &Dom, shown: &Shown, url: &Url, budget: &Budget) -> Choice {
    let blocks = blocks::find(dom, shown, budget);
    let page = page::Page::of(dom, &blocks, url);
    let rows = features::rows(dom, &blocks, &page, budget);
    let likelihoods = judge::likelihoods(&rows);
    let asked = asked(&blocks.blocks, &likelihoods);
    let mut taken: Vec<bool> = likelihoods.iter().map(|&likelihood| likelihood > asked).collect();
    taken.resize(blocks.blocks.len(), false);
    fill(dom, &blocks, &likelihoods, &mut taken);
    join_lists(dom, &blocks, &mut taken);
    join_tables(dom, shown, &blocks, &mut taken, budget);
    let mut choice = Choice { chosen: vec![false; dom.len()], words: 0.0, all: 0.0 };
    for (block, taken) in blocks.blocks.iter().zip(taken) {
        choice.all += block.count.words;
        if taken {
            choice.words += block.count.words;
            for text in blocks.texts.get(block.from..block.to).unwrap_or_default() {
                choice.chosen[text.index()] = true;
            }
        }
    }
    choice
}

/// The likelihood that a page asks for.
fn asked(blocks: &[Block], likelihoods: &[f32]) -> f32 {
    let (mut sum, mut words) = (0.0, 0.0);
    for (block, &likelihood) in blocks.iter().zip(likelihoods) {
        if likelihood > LIKELY {
            sum += likelihood * block.count.words;
            words += block.count.words;
        }
    }
    let plain = (blocks::share(sum, words) - PLAIN.0) / (PLAIN.1 - PLAIN.0);
    ASKED.0 + (ASKED.1 - ASKED.0) * plain.clamp(0.0, 1.0)
}

/// The likelihood from which on a block is taken that stands between two that are, or heads one.
const BETWEEN: f32 = 0.3;

/// Takes blocks that stand right between taken ones, and headings right above taken ones.
fn fill(dom: &Dom, blocks: &Blocks, likelihoods: &[f32], taken: &mut [bool]) {
    let parent = |at: usize| blocks.blocks.get(at).and_then(|block| dom.parent(block.element));
    for at in (0..likelihoods.len()).rev() {
        let after = taken.get(at + 1) == Some(&true);
        if taken[at] || !after || likelihoods[at] < BETWEEN {
            continue;
        }
        let before = at > 0 && taken[at - 1] && parent(at - 1) == parent(at);
        let beside = parent(at) == parent(at + 1);
        let is_heading = heading_level(dom.name(blocks.blocks[at].element)) > 1;
        taken[at] = (before && beside) || is_heading;
    }
}

/// Takes a list whole of which half is taken.
fn join_lists(dom: &Dom, blocks: &Blocks, taken: &mut [bool]) {
    let mut lists: HashMap<NodeId, Vec<usize>> = HashMap::new();
    for (index, block) in blocks.blocks.iter().enumerate() {
        let around = dom.ancestors(block.element).take(16);
        let outermost = around.filter(|&at| matches!(dom.name(at), "ul" | "ol")).last();
        if let Some(list) = outermost {
            lists.entry(list).or_default().push(index);
        }
    }
    for indices in lists.into_values() {
        if let Some(true) = is_mostly_taken(&indices, blocks, taken) {
            indices.into_iter().for_each(|index| taken[index] = true);
        }
    }
}

/// Whether half of the words of some blocks are taken; none where all or none are.
fn is_mostly_taken(indices: &[usize], blocks: &Blocks, taken: &[bool]) -> Option<bool> {
    let words = |only: bool| -> f32 {
        let counted = indices.iter().filter(|&&index| !only || taken[index]);
        counted.map(|&index| blocks.blocks[index].count.words).sum()
    };
    let count = indices.iter().filter(|&&index| taken[index]).count();
    (count > 0 && count < indices.len()).then(|| words(true) * 2.0 >= words(false))
}

/// Takes each table of data whole, or not at all.
fn join_tables(dom: &Dom, shown: &Shown, blocks: &Blocks, taken: &mut [bool], budget: &Budget) {
    let mut tables: HashMap<NodeId, Vec<usize>> = HashMap::new();
    for (index, block) in blocks.blocks.iter().enumerate() {
        let around = std::iter::once(block.element).chain(dom.ancestors(block.element)).take(16);
        if let Some(table) = around.into_iter().find(|&at| dom.name(at) == "table") {
            tables.entry(table).or_default().push(index);
        }
    }
    for (table, indices) in tables {
        let Some(whole) = is_mostly_taken(&indices, blocks, taken) else { continue };
        if !render::is_data(dom, shown, table, budget) {
            continue;
        }
        for index in indices {
            taken[index] = whole;
        }
    }
}

/// For the making of trees: the text of every block with its row.
pub(super) fn explain(
    dom: &Dom,
    shown: &Shown,
    url: &Url,
    budget: &Budget,
) -> Vec<(String, Vec<f32>)> {
    let blocks = blocks::find(dom, shown, budget);
    let page = page::Page::of(dom, &blocks, url);
    let rows = features::rows(dom, &blocks, &page, budget);
    let texts = blocks.blocks.iter().map(|block| blocks.text(dom, block));
    texts.zip(rows.chunks(features::COUNT).map(<[f32]>::to_vec)).collect()
}
