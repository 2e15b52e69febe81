//! A part of a text, cut where a reader would.
//!
//! Offsets count bytes. A part begins and ends on the border of a character that stands alone: a
//! combining mark, a modifier and what a joiner ties stay with the character before them. Where a line
//! ends in the last part of the room, the cut is there.

/// How far back a cut looks for a border: longer runs of marks are no writing.
const MAX_MARKS: usize = 64;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice<'a> {
    /// Where it really begins.
    pub(super) offset: usize,
    pub(super) text: &'a str,
}

impl Slice<'_> {
    /// Where the next part begins.
    pub(super) fn end(&self) -> usize {
        self.offset + self.text.len()
    }
}

/// At most `max` bytes of `text` from `offset` on; nothing past its end. Where there is more, there is at
/// least one character, so that reading goes on.
pub(super) fn slice(text: &str, offset: usize, max: usize) -> Slice<'_> {
    let start = border_before(text, offset.min(text.len()));
    let rest = &text[start..];
    if rest.len() <= max {
        return Slice { offset: start, text: rest };
    }
    let is_border = |at: &usize| border_before(rest, *at) == *at;
    let mut end = border_before(rest, max);
    let line = rest[..end].rfind('\n').map(|at| at + 1);
    if let Some(line) = line.filter(|at| *at > end * 3 / 4 && is_border(at)) {
        end = line;
    }
    if end == 0 {
        end = (1..=rest.len()).find(is_border).unwrap_or(rest.len());
    }
    Slice { offset: start, text: &rest[..end] }
}

/// The last border at or before a byte.
fn border_before(text: &str, at: usize) -> usize {
    let mut at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let unmoved = at;
    for _ in 0..MAX_MARKS {
        let (before, after) = text.split_at(at);
        let Some(last) = before.chars().next_back() else { return 0 };
        let ties = after.chars().next().is_some_and(belongs_to_the_last) || last == JOINER;
        if !ties || after.is_empty() {
            return at;
        }
        at -= last.len_utf8();
    }
    unmoved
}

const JOINER: char = '\u{200d}';

fn belongs_to_the_last(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{e31}'
        | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | JOINER | '\u{20d0}'..='\u{20ff}' | '\u{3099}' | '\u{309a}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}' | '\u{1f3fb}'..='\u{1f3ff}'
        | '\u{e0020}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_end_where_a_character_does() {
        let check = |text: &str, offset: usize, max: usize, expected: (usize, &str)| {
            let found = slice(text, offset, max);
            assert_eq!((found.offset, found.text), expected, "{text:?} {offset} {max}");
        };
        check("abc", 0, 10, (0, "abc"));
        check("abc", 1, 1, (1, "b"));
        check("abc", 3, 10, (3, ""));
        check("abc", 99, 10, (3, ""));
        check("漢字", 0, 4, (0, "漢"));
        check("漢字", 1, 4, (0, "漢"));
        check("ae\u{301}b", 0, 2, (0, "a"));
        check("👩\u{200d}👧x", 0, 8, (0, "👩\u{200d}👧"));
        check("x👍🏽y", 0, 5, (0, "x"));
        check("line one\nline two\n", 0, 11, (0, "line one\n"));
        check("line one\n\u{301}ne two", 0, 10, (0, "line one"));
        check("é\u{e0020}x", 0, 1, (0, "é\u{e0020}"));
    }

    proptest! {
        #[test]
        fn parts_joined_are_the_text(text in "(?s).{0,200}", max in 1_usize..40) {
            let (mut joined, mut at) = (String::new(), 0);
            while at < text.len() {
                let part = slice(&text, at, max);
                prop_assert_eq!(part.offset, at);
                prop_assert!(!part.text.is_empty());
                joined.push_str(part.text);
                at = part.end();
            }
            prop_assert_eq!(joined, text);
        }
    }
}
