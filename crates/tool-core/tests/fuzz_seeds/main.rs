//! The bodies of the fuzz targets, over the checked-in seeds and the first example's data: each seed
//! whole, cut off at every byte, and with every byte changed. No fuzzing engine is needed.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../../fuzz/src/bodies.rs"]
mod bodies;

use std::{fs, path::Path};

use serde_json::Value;

/// Seeds are small; of a longer one, only so many bytes from its start are cut and changed.
const MAX_CHANGED: usize = 400;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 4, "{target} has {} seeds", files.len());
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn data(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name)).unwrap()
}

fn replay(seeds: &[Vec<u8>], body: fn(&[u8])) {
    for seed in seeds {
        body(seed);
        for at in 0..seed.len().min(MAX_CHANGED) {
            body(&seed[..at]);
            for byte in [b'"', b'{', b'\\', b'0', 0xff] {
                let mut changed = seed.clone();
                changed[at] = byte;
                body(&changed);
            }
        }
    }
}

#[test]
fn calls() {
    let lines = data("calls_smoke.jsonl");
    let mut seeds = seeds("parse_call");
    seeds.extend(lines.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
    replay(&seeds, bodies::parse_call);
}

#[test]
fn definition_files() {
    let mut seeds = seeds("load_definitions");
    seeds.push(data("tools_sandbox_smoke.json"));
    replay(&seeds, bodies::load_definitions);
}

#[test]
fn schemas_with_instances() {
    let mut seeds = seeds("explain_schema");
    let tools: Value = serde_json::from_slice(&data("tools_sandbox_smoke.json")).unwrap();
    for tool in tools.as_array().unwrap() {
        let schema = &tool["function"]["parameters"];
        seeds.push(format!("{schema}\n{{\"path\": 5, \"key\": \"\"}}").into_bytes());
    }
    replay(&seeds, bodies::explain_schema);
}
