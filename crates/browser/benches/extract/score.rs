//! How well a text matches another, as the two public benchmarks measure it.

use std::collections::HashMap;

/// The words of a text: runs of letters, digits and underscores.
fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Shares of what is in both texts, in the found one alone, and in the true one alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    pub(crate) both: f64,
    pub(crate) found: f64,
    pub(crate) missed: f64,
}

/// Compares by runs of four words, each page of the same weight.
pub(crate) fn shingles(truth: &str, found: &str) -> Shares {
    let mut counts: HashMap<Vec<&str>, (i64, i64)> = HashMap::new();
    for (text, is_truth) in [(truth, true), (found, false)] {
        let words = words(text);
        let last = words.len().saturating_sub(3).max(1);
        for at in 0..last {
            let shingle = words[at.min(words.len())..(at + 4).min(words.len())].to_vec();
            if shingle.is_empty() {
                continue;
            }
            let count = counts.entry(shingle).or_default();
            if is_truth { count.0 += 1 } else { count.1 += 1 }
        }
    }
    let mut shares = Shares { both: 0.0, found: 0.0, missed: 0.0 };
    for (truth, found) in counts.into_values() {
        shares.both += truth.min(found) as f64;
        shares.found += (found - truth).max(0) as f64;
        shares.missed += (truth - found).max(0) as f64;
    }
    let sum = shares.both + shares.found + shares.missed;
    if sum > 0.0 {
        shares.both /= sum;
        shares.found /= sum;
        shares.missed /= sum;
    }
    shares
}

/// F1 of pages: of the means of precision and recall.
pub(crate) fn f1<'a>(pages: impl Iterator<Item = &'a Shares> + Clone) -> (f64, f64, f64) {
    let part = |both: f64, other: f64| if other == 0.0 { 1.0 } else { both / (both + other) };
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let precise = pages.clone().filter(|page| page.both + page.found > 0.0);
    let precision = mean(precise.map(|page| part(page.both, page.found)).collect());
    let complete = pages.filter(|page| page.both + page.missed > 0.0);
    let recall = mean(complete.map(|page| part(page.both, page.missed)).collect());
    (2.0 * precision * recall / (precision + recall), precision, recall)
}

/// F1 of one page by single words in any case.
pub(crate) fn word_f1(truth: &str, found: &str) -> f64 {
    let (truth, found) = (truth.to_lowercase(), found.to_lowercase());
    let (truth, found) = (words(&truth), words(&found));
    if truth.is_empty() || found.is_empty() {
        return f64::from(u8::from(truth.is_empty() && found.is_empty()));
    }
    let mut counts: HashMap<&str, i64> = HashMap::new();
    for word in &truth {
        *counts.entry(word).or_default() += 1;
    }
    let mut both = 0_i64;
    for word in &found {
        if let Some(count) = counts.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            both += 1;
        }
    }
    if both == 0 {
        return 0.0;
    }
    let (precision, recall) = (both as f64 / found.len() as f64, both as f64 / truth.len() as f64);
    2.0 * precision * recall / (precision + recall)
}

/// The standard deviation of a measure over samples of the pages, drawn again and again.
pub(crate) fn deviation(pages: usize, measure: impl Fn(&[usize]) -> f64) -> f64 {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let values: Vec<f64> = (0..1000)
        .map(|_| {
            let sample: Vec<usize> = (0..pages)
                .map(|_| {
                    seed ^= seed << 13;
                    seed ^= seed >> 7;
                    seed ^= seed << 17;
                    usize::try_from(seed % pages as u64).unwrap()
                })
                .collect();
            measure(&sample)
        })
        .collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}
