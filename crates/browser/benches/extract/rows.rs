//! The rows of numbers that trees are made from: `OUT.f32`, row after row in little-endian floats, and
//! `OUT.jsonl`, a line for each page with its ground truth and the texts of its blocks.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
};

use crate::corpus::Page;

/// Writes the rows of some pages.
pub(crate) fn write(pages: &[Page], out: &Path) {
    let mut numbers = BufWriter::new(File::create(out.with_extension("f32")).unwrap());
    let mut texts = BufWriter::new(File::create(out.with_extension("jsonl")).unwrap());
    for page in pages {
        let blocks = browser::explain(&page.html, &page.url);
        for number in blocks.iter().flat_map(|(_, row)| row) {
            numbers.write_all(&number.to_le_bytes()).unwrap();
        }
        let blocks: Vec<_> = blocks.into_iter().map(|(text, _)| text).collect();
        let line = serde_json::json!({
            "id": page.id, "kind": page.kind, "truth": page.truth, "blocks": blocks,
        });
        writeln!(texts, "{line}").unwrap();
    }
}
