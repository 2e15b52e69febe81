//! `cargo xtask bench extract -- FOLDER`: how well and how fast main content is found, on pages with
//! ground truth.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark prints, and ends where its pages can't be read"
)]

mod corpus;

use std::io::Write as _;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let pages = corpus::load(std::path::Path::new(&args[0]));
    let out = std::path::PathBuf::from(&args[1]);
    let mut rows =
        std::io::BufWriter::new(std::fs::File::create(out.with_extension("f32")).unwrap());
    let mut texts =
        std::io::BufWriter::new(std::fs::File::create(out.with_extension("jsonl")).unwrap());
    for page in &pages {
        let blocks = browser::extract::explain(&page.html, &page.url);
        for (_, row) in &blocks {
            for number in row {
                rows.write_all(&number.to_le_bytes()).unwrap();
            }
        }
        let blocks: Vec<_> = blocks.into_iter().map(|(text, _)| text).collect();
        let line = serde_json::json!({"id": page.id, "kind": page.kind, "truth": page.truth, "blocks": blocks});
        writeln!(texts, "{line}").unwrap();
    }
}
