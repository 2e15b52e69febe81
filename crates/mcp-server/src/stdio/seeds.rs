//! The body of the fuzz target over the checked-in seeds: each one whole, cut off at every byte, and with
//! every byte changed. No fuzzing engine is needed.

use std::{fs, path::Path};

use super::bodies::stdio_lines;

#[test]
fn lines_of_the_seeds_and_of_what_is_near_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/stdio_lines");
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 4);
    for seed in files.iter().map(|file| fs::read(file).unwrap()) {
        stdio_lines(&seed);
        for at in 0..seed.len() {
            stdio_lines(&seed[..at]);
            stdio_lines(&seed[at..]);
            for byte in [b'\n', b'\r', 0, 0xff] {
                let mut changed = seed.clone();
                changed[at] = byte;
                stdio_lines(&changed);
            }
        }
    }
}
