//! Which blocks of a page are its main content.

mod blocks;
mod features;
mod hints;
mod page;
mod tree;

use url::Url;

use super::{budget::Budget, dom::Dom, hidden::Shown};

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
