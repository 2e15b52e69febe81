//! The part of a text file that was asked for, cut on character borders.
//!
//! The bytes asked for are `offset .. offset + limit`. A character that begins before `offset` and
//! reaches past it is given whole; one that reaches past the end is left for the next call. So calls
//! at `0`, `limit`, `2 * limit`, … give every character of the file exactly once.

use std::io::{self, Read, Seek, SeekFrom};

/// The most bytes of a character that lie before or behind one of its inner borders.
const AROUND: u64 = 3;

/// The bytes of a file from a little before the part asked for to a little behind it.
#[derive(Debug)]
pub(super) struct Window {
    bytes: Vec<u8>,
    /// Where `bytes` begins in the file.
    begin: u64,
    /// Where the part asked for begins and ends, counted in `bytes`.
    from: usize,
    to: usize,
}

/// A text cut out of a window.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut<'a> {
    pub(super) text: &'a str,
    /// Where it ends in the file.
    pub(super) end: u64,
}

/// A window that gives no text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CutError {
    /// The file ends before the part asked for.
    PastEnd,
    /// This byte, counted from the beginning of the file, belongs to no character.
    NotUtf8 { offset: u64, byte: u8 },
    /// Not even the first character fits: it needs a limit of `least` bytes.
    TooNarrow { least: u64 },
}

impl Window {
    /// Reads the part at `offset` of at most `limit` bytes.
    pub(super) fn read(file: impl Read + Seek, offset: u64, limit: u64) -> io::Result<Self> {
        let mut file = file;
        let begin = offset.saturating_sub(AROUND);
        if begin > 0 {
            file.seek(SeekFrom::Start(begin))?;
        }
        let length = (offset - begin).saturating_add(limit).saturating_add(AROUND);
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        let from = index(offset - begin);
        let to = from.saturating_add(index(limit));
        Ok(Self { bytes, begin, from, to })
    }

    /// Where the bytes that were read end in the file.
    pub(super) fn end(&self) -> u64 {
        self.begin + length(self.bytes.len())
    }

    /// The text, of at most `max` bytes.
    pub(super) fn cut(&self, max: usize) -> Result<Cut<'_>, CutError> {
        if self.from > self.bytes.len() {
            return Err(CutError::PastEnd);
        }
        let from = self.char_start();
        let wanted = &self.bytes[from..];
        let to = (self.to.min(self.bytes.len()) - from).min(max);
        let valid = match str::from_utf8(wanted) {
            Ok(text) => text,
            Err(error) => {
                let (valid, rest) = wanted.split_at(error.valid_up_to());
                if valid.len() < to {
                    return Err(self.not_utf8(from + valid.len(), rest));
                }
                str::from_utf8(valid).unwrap_or_default()
            }
        };
        let text = tool_core::clip(valid, to);
        match valid.chars().next().filter(|_| text.is_empty() && self.from < self.bytes.len()) {
            Some(first) => {
                let least = length(from + first.len_utf8() - self.from);
                Err(CutError::TooNarrow { least })
            }
            None => Ok(Cut { text, end: self.begin + length(from + text.len()) }),
        }
    }

    fn not_utf8(&self, at: usize, rest: &[u8]) -> CutError {
        let byte = rest.first().copied().unwrap_or_default();
        CutError::NotUtf8 { offset: self.begin + length(at), byte }
    }

    /// Where the character begins that the part's first byte belongs to.
    fn char_start(&self) -> usize {
        let is_inner = |at: usize| self.bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
        if !is_inner(self.from) {
            return self.from;
        }
        let lead = (0..self.from).rev().take(3).find(|at| !is_inner(*at));
        let reaches = |at: &usize| self.from < at + char_len(self.bytes[*at]);
        lead.filter(reaches).unwrap_or(self.from)
    }
}

/// How long the character is that begins with this byte.
fn char_len(lead: u8) -> usize {
    match lead {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => 1,
    }
}

fn index(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

fn length(index: usize) -> u64 {
    u64::try_from(index).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn window(bytes: &[u8], offset: u64, limit: u64) -> Window {
        Window::read(Cursor::new(bytes), offset, limit).unwrap()
    }

    #[test]
    fn cuts_fall_on_characters() {
        let check = |text: &str, offset, limit, expected: &str, end| {
            let window = window(text.as_bytes(), offset, limit);
            assert_eq!(window.cut(100), Ok(Cut { text: expected, end }), "{text} {offset} {limit}");
        };
        check("aéb", 0, 2, "a", 1);
        check("aéb", 0, 3, "aé", 3);
        check("aéb", 2, 1, "é", 3);
        check("aéb", 2, 2, "éb", 4);
        check("a😀b", 3, 9, "😀b", 6);
        check("a😀b", 5, 1, "b", 6);
        check("abc", 3, 1, "", 3);
        check("", 0, 1, "", 0);
    }

    #[test]
    fn what_gives_no_text_says_why() {
        let check = |bytes: &[u8], offset, limit, expected| {
            assert_eq!(window(bytes, offset, limit).cut(100), Err(expected), "{bytes:?}");
        };
        check(b"abc", 4, 1, CutError::PastEnd);
        check(b"ab\xffc", 0, 9, CutError::NotUtf8 { offset: 2, byte: 0xff });
        check(
            "aé".as_bytes().split_last().unwrap().1,
            0,
            9,
            CutError::NotUtf8 { offset: 1, byte: 0xc3 },
        );
        check(b"\x80\x80\x80\x80\x80", 4, 1, CutError::NotUtf8 { offset: 4, byte: 0x80 });
        check("😀".as_bytes(), 0, 1, CutError::TooNarrow { least: 4 });
        check("😀".as_bytes(), 1, 1, CutError::TooNarrow { least: 3 });
        assert!(window(b"abc\xff", 0, 3).cut(100).is_ok(), "what lies behind is not judged");
        assert!(window(b"\xffabc", 1, 3).cut(100).is_ok(), "nor what lies before");
    }

    proptest! {
        #[test]
        fn parts_side_by_side_give_every_character_once(text in "\\PC{0,60}", limit in 4u64..40) {
            let mut joined = String::new();
            let mut offset = 0;
            while offset < length(text.len()) {
                let window = window(text.as_bytes(), offset, limit);
                joined.push_str(window.cut(usize::MAX).unwrap().text);
                offset += limit;
            }
            prop_assert_eq!(joined, text);
        }

        #[test]
        fn a_cut_is_never_longer_than_allowed(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
            offset in 0u64..50, limit in 1u64..50, max in 1usize..50,
        ) {
            if let Ok(cut) = window(&bytes, offset, limit).cut(max) {
                prop_assert!(cut.text.len() <= max);
                prop_assert!(cut.end <= offset.max(offset + limit));
            }
        }
    }
}
