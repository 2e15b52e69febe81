//! Fences as CommonMark has them. Source: CommonMark 0.31.2, section 4.5.

use super::Tag;

/// An opening fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    /// The columns before it, which are taken off the lines of the block.
    indent: usize,
    /// Where the text of the list item begins that it is in; 0 outside of lists.
    pub(super) item: usize,
    pub(super) tag: Tag,
}

impl Fence {
    /// The fence that opens with this text, which begins at column `item + indent`.
    pub(super) fn open(text: &str, item: usize, indent: usize) -> Option<Self> {
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = text.trim_start_matches(mark);
        let length = text.len() - info.len();
        let is_fence = length >= 3 && indent < 4 && !(mark == '`' && info.contains('`'));
        is_fence.then(|| Self { mark, length, indent, item, tag: tag(info) })
    }

    /// Whether a line, without its indent, closes it.
    pub(super) fn is_closed_by(&self, text: &str, indent: usize) -> bool {
        let rest = text.trim_start_matches(self.mark);
        indent < self.item + 4 && text.len() - rest.len() >= self.length && rest.trim().is_empty()
    }

    /// A line of the block, without the columns that are not the block's.
    pub(super) fn content<'a>(&self, line: &'a str) -> &'a str {
        let mut rest = line;
        for _ in 0..self.item + self.indent {
            match rest.strip_prefix(' ') {
                Some(shorter) => rest = shorter,
                None => break,
            }
        }
        rest
    }
}

/// What a block with this info string is run by: its first word, in any case, also in braces.
fn tag(info: &str) -> Tag {
    let word = info.split_whitespace().next().unwrap_or_default();
    let word = word.trim_matches(['{', '}']).trim_start_matches('.').to_lowercase();
    match word.as_str() {
        "" | "python" | "py" | "python3" | "ipython" | "repl" => Tag::Python,
        "bash" | "sh" | "shell" => Tag::Bash,
        _ => Tag::Other(word),
    }
}
