//! `cargo xtask bench extract -- FOLDER`: how well and how fast main content is found, on pages with
//! ground truth; the layouts are in `corpus`.
//!
//! Prints F1 over runs of four words, as the article benchmark measures it, and over single words, as
//! the benchmark of all kinds does, with the standard deviation of each over 1,000 samples of the pages;
//! pages a second on one thread; and the pages with the lowest F1.
//!
//! `FOLDER --rows OUT` writes the rows of numbers that the trees are made from, for
//! `scripts/train-extraction.py`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "a benchmark prints, and ends where its pages can't be read"
)]

mod corpus;
mod rows;
mod score;

use std::{collections::BTreeMap, path::Path, time::Instant};

use browser::{ExtractOptions, Format, extract};
use corpus::Page;
use score::Shares;

/// Pages that are named.
const WORST: usize = 12;

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [folder] => judge(&corpus::load(Path::new(folder))),
        [folder, "--rows", out] => rows::write(&corpus::load(Path::new(folder)), Path::new(out)),
        _ => println!("cargo xtask bench extract -- FOLDER [--rows OUT]"),
    }
}

fn text(page: &Page, format: Format) -> String {
    let options = ExtractOptions { format, ..ExtractOptions::default() };
    let extracted = extract(&page.html, Some("text/html"), &page.url, &options);
    extracted.map(|extracted| extracted.content).unwrap_or_default()
}

fn judge(pages: &[Page]) {
    let texts: Vec<String> = pages.iter().map(|page| text(page, Format::Text)).collect();
    let pairs = || pages.iter().zip(&texts);
    let shares: Vec<Shares> =
        pairs().map(|(page, text)| score::shingles(&page.truth, text)).collect();
    let words: Vec<f64> = pairs().map(|(page, text)| score::word_f1(&page.truth, text)).collect();
    let (f1, precision, recall) = score::f1(shares.iter());
    let spread =
        score::deviation(pages.len(), |sample| score::f1(sample.iter().map(|&at| &shares[at])).0);
    println!("{} pages", pages.len());
    println!(
        "F1 of four words  {f1:.4} ± {spread:.4}  precision {precision:.4}  recall {recall:.4}"
    );
    let mean =
        |sample: &[usize]| sample.iter().map(|&at| words[at]).sum::<f64>() / sample.len() as f64;
    let all: Vec<usize> = (0..pages.len()).collect();
    println!("F1 of words       {:.4} ± {:.4}", mean(&all), score::deviation(pages.len(), mean));
    let mut kinds: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, page) in pages.iter().enumerate() {
        kinds.entry(&page.kind).or_default().push(at);
    }
    for (kind, of_kind) in kinds.iter().filter(|_| kinds.len() > 1) {
        println!("  {kind:<14} {:.4}  of {}", mean(of_kind), of_kind.len());
    }
    speed(pages);
    println!("lowest F1 of words:");
    let mut order = all;
    order.sort_by(|&a, &b| words[a].total_cmp(&words[b]));
    for at in order.into_iter().take(WORST) {
        println!("  {:.3}  {:<12} {}", words[at], pages[at].kind, pages[at].id);
    }
}

fn speed(pages: &[Page]) {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        for page in pages {
            std::hint::black_box(text(page, Format::Markdown));
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    let bytes: usize = pages.iter().map(|page| page.html.len()).sum();
    let rate = pages.len() as f64 / best;
    println!("{rate:.0} pages/s, {:.1} MB/s, one thread, best of 3", bytes as f64 / best / 1e6);
}
