//! What a search found and what it passed over, as it becomes a result.

use std::path::Path;

use serde_json::{Value, json};
use tool_core::ByteCount;

use super::{super::bounded::BoundedList, lines::Line};

/// How much of a line is shown, in bytes.
const MAX_SHOWN: usize = 500;

/// How much of that lies before the match, where the line does not fit.
const SHOWN_BEFORE: usize = 100;

/// Why not everything was searched, or not everything found is in the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// There are more matches than asked for.
    MaxMatches,
    /// There are more matches than the output ceiling leaves room for.
    OutputSize,
    /// Of very long lines only the beginning was searched.
    LongLines,
    /// Some files or directories could not be read.
    Unreadable,
    /// There are more entries than a search goes through.
    TooManyEntries,
}

impl Gap {
    fn as_str(self) -> &'static str {
        match self {
            Self::MaxMatches => "max_matches",
            Self::OutputSize => "output_size",
            Self::LongLines => "long_lines",
            Self::Unreadable => "unreadable",
            Self::TooManyEntries => "too_many_entries",
        }
    }
}

/// The result in the making.
#[derive(Debug)]
pub(super) struct Hits {
    matches: BoundedList,
    max_matches: usize,
    gaps: Vec<Gap>,
    /// Files that were searched.
    pub(super) files: u64,
    /// Files passed over because they are not text.
    pub(super) binary: u64,
    /// Entries passed over because an ignore file says so.
    pub(super) ignored: u64,
    /// Entries passed over because they are neither files nor directories: links, FIFOs, devices.
    pub(super) special: u64,
}

impl Hits {
    pub(super) fn new(max_matches: usize, max_output: ByteCount) -> Self {
        Self {
            matches: BoundedList::new(max_output),
            max_matches,
            gaps: Vec::new(),
            files: 0,
            binary: 0,
            ignored: 0,
            special: 0,
        }
    }

    /// Adds a line that matches at `start`; false where there is no room for it, so that there is no
    /// point in searching on.
    pub(super) fn add(&mut self, path: &Path, line: &Line<'_>, start: usize) -> bool {
        if self.matches.len() == self.max_matches {
            self.note(Gap::MaxMatches);
            return false;
        }
        let fits = self.matches.push(entry(path, line, start));
        if !fits {
            self.note(Gap::OutputSize);
        }
        fits
    }

    /// Notes why the result is not complete.
    pub(super) fn note(&mut self, gap: Gap) {
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    pub(super) fn into_value(self) -> Value {
        let mut result = json!({
            "matches": self.matches.into_value(),
            "files_searched": self.files,
            "skipped_binary": self.binary,
            "skipped_ignored": self.ignored,
            "skipped_special": self.special,
            "is_complete": self.gaps.is_empty(),
        });
        if !self.gaps.is_empty() {
            result["incomplete_by"] = self.gaps.iter().map(|gap| gap.as_str()).collect();
        }
        result
    }
}

/// What a search gives.
pub(super) fn schema() -> Value {
    let (count, flag) = (json!({"type": "integer", "minimum": 0}), json!({"type": "boolean"}));
    let hit = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "line": count,
            "column": count,
            "text": {"type": "string"},
            "is_clipped": flag,
            "is_lossy": flag,
        },
        "required": ["path", "line", "column", "text"],
    });
    json!({
        "type": "object",
        "properties": {
            "matches": {"type": "array", "items": hit},
            "files_searched": count,
            "skipped_binary": count,
            "skipped_ignored": count,
            "skipped_special": count,
            "is_complete": flag,
            "incomplete_by": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["matches", "files_searched", "is_complete"],
    })
}

fn entry(path: &Path, line: &Line<'_>, start: usize) -> Value {
    let shown = excerpt(line.bytes, start);
    let text = String::from_utf8_lossy(shown);
    let is_lossy = matches!(text, std::borrow::Cow::Owned(_)) || path.to_str().is_none();
    let mut entry = json!({
        "path": path.to_string_lossy(),
        "line": line.number,
        "column": start + 1,
        "text": text,
    });
    if shown.len() < line.bytes.len() || line.is_cut {
        entry["is_clipped"] = true.into();
    }
    if is_lossy {
        entry["is_lossy"] = true.into();
    }
    entry
}

/// The part of a line to show: all of it, or what lies around `start`, cut on character borders.
fn excerpt(line: &[u8], start: usize) -> &[u8] {
    if line.len() <= MAX_SHOWN {
        return line;
    }
    let is_inner = |at: &usize| line.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let from = start.saturating_sub(SHOWN_BEFORE).min(line.len() - MAX_SHOWN);
    let to = from + MAX_SHOWN;
    // At most three steps; in what is not UTF-8 there may be no border near.
    let from = (from..from + 4).find(|at| !is_inner(at)).unwrap_or(from);
    let to = (to - 3..=to).rev().find(|at| !is_inner(at)).unwrap_or(to);
    &line[from..to]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_excerpt_shows_the_match() {
        let line = format!("{}needle{}", "x".repeat(2000), "y".repeat(2000));
        let shown = str::from_utf8(excerpt(line.as_bytes(), 2000)).unwrap();
        assert_eq!(shown.len(), MAX_SHOWN);
        assert_eq!(shown.find("needle"), Some(SHOWN_BEFORE));
        assert_eq!(excerpt(b"short", 3), b"short");
    }

    proptest! {
        #[test]
        fn an_excerpt_of_text_is_text(text in "\\PC{300,700}", at in 0usize..300) {
            let start = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            let shown = excerpt(text.as_bytes(), start);
            prop_assert!(shown.len() <= MAX_SHOWN);
            prop_assert!(str::from_utf8(shown).is_ok());
        }
    }
}
