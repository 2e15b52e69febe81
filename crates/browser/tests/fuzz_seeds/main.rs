//! The bodies of the fuzz targets, over the checked-in seeds: each seed whole, cut off at every byte, and
//! with every byte changed. No fuzzing engine is needed.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../../fuzz/src/bodies.rs"]
mod bodies;

use std::{fs, path::Path};

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 4, "{target} has {} seeds", files.len());
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn replay(seeds: &[Vec<u8>], changes: &[u8], body: fn(&[u8])) {
    for seed in seeds {
        body(seed);
        for at in 0..seed.len() {
            body(&seed[..at]);
            body(&seed[at..]);
            for byte in changes {
                let mut changed = seed.clone();
                changed[at] = *byte;
                body(&changed);
            }
        }
    }
}

#[test]
fn urls() {
    let changes = b"/\\@:.%[]#? \t0\xff";
    replay(&seeds("url_policy"), changes, bodies::url_policy);
}

#[test]
fn documents() {
    replay(&seeds("extract_document"), b"<>\xff", bodies::extract_document);
}
