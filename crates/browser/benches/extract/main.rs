//! `cargo xtask bench extract FOLDER`: how well and how fast main content is found, on pages with
//! ground truth; the layouts are in `corpus`.
//!
//! Prints F1 over runs of four words, as the article benchmark measures it, and over single words, as
//! the benchmark of all kinds does, with the standard deviation of each over 1,000 samples of the pages;
//! pages a second on one thread; and the pages with the lowest F1.
//!
//! `--hostile` prints the time and the memory of pages that are made to be slow, large or deep.
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
#[path = "../../tests/hostile/shapes.rs"]
mod shapes;

use std::{collections::BTreeMap, fs, path::Path, time::Instant};

use browser::{ExtractOptions, Format, extract};
use corpus::Page;
use score::Shares;

/// Pages that are named.
const WORST: usize = 12;

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--hostile"] => hostile(),
        [folder] => judge(&corpus::load(Path::new(folder))),
        [folder, "--rows", out] => rows::write(&corpus::load(Path::new(folder)), Path::new(out)),
        _ => println!("cargo xtask bench extract FOLDER [--rows OUT] | --hostile"),
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

/// Seconds that this process ran on a processor: what else the machine does is not in them.
fn processor_seconds() -> f64 {
    let spent = fs::read_to_string("/proc/self/schedstat").unwrap();
    spent.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn speed(pages: &[Page]) {
    let (mut best, mut busy) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let (start, spent) = (Instant::now(), processor_seconds());
        for page in pages {
            std::hint::black_box(text(page, Format::Markdown));
        }
        best = best.min(start.elapsed().as_secs_f64());
        busy = busy.min(processor_seconds() - spent);
    }
    let bytes: usize = pages.iter().map(|page| page.html.len()).sum();
    let (count, megabytes) = (pages.len() as f64, bytes as f64 / 1e6);
    println!(
        "{:.0} pages/s, {:.1} MB/s by the clock; {:.0} pages/s, {:.1} MB/s of processor time; one thread, best of 3",
        count / best,
        megabytes / best,
        count / busy,
        megabytes / busy
    );
}

fn hostile() {
    let url = "https://example.com/".parse().unwrap();
    let options = ExtractOptions::default();
    for (name, media_type, bytes) in shapes::all() {
        let (start, spent) = (Instant::now(), processor_seconds());
        let answer = extract(&bytes, Some(media_type), &url, &options);
        let (took, busy) = (start.elapsed().as_secs_f64(), processor_seconds() - spent);
        let answer = answer.map_or_else(
            |error| error.to_string(),
            |extracted| {
                format!(
                    "{} bytes, cut: {}",
                    extracted.content.len(),
                    extracted.cut.map_or("no", |cut| cut.as_str())
                )
            },
        );
        println!("{took:6.3} s, {busy:6.3} s of processor time  {name}: {answer}");
    }
    let status = fs::read_to_string("/proc/self/status").unwrap();
    println!("most memory: {}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap());
}
