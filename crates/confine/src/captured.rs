//! What was kept of a stream, as bytes for the record and as text for a reader.
//!
//! The text marks every byte that is not UTF-8 as `\xNN`, so nothing is lost and nothing is guessed;
//! a character that the cut between head and tail splits is marked in the same way. Control
//! characters are left as they are.

use std::fmt;

/// The kept bytes of one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
}

impl Captured {
    pub(crate) fn new(mut head: Vec<u8>, tail: Vec<u8>, total: u64) -> Self {
        if (head.len() + tail.len()) as u64 == total {
            head.extend_from_slice(&tail);
            return Self { head, tail: Vec::new(), total };
        }
        Self { head, tail, total }
    }

    /// The first bytes; all of them where nothing was left out.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The last bytes, where something was left out between.
    #[must_use]
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// How many bytes the stream had.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    /// How many bytes were left out between head and tail.
    #[must_use]
    pub fn omitted_bytes(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// Whether the stream had nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The same with at most `max` bytes kept.
    #[must_use]
    pub fn shrunk_to(&self, max: usize) -> Self {
        if self.head.len() + self.tail.len() <= max {
            return self.clone();
        }
        let last = if self.tail.is_empty() { &self.head } else { &self.tail };
        let half = max / 2;
        let head = self.head[..half.min(self.head.len())].to_vec();
        let tail = last[last.len().saturating_sub(half)..].to_vec();
        Self { head, tail, total: self.total }
    }

    /// Head and tail as texts, each with what is not UTF-8 marked.
    #[must_use]
    pub fn texts(&self) -> [String; 2] {
        [&self.head, &self.tail].map(|part| Marked(part).to_string())
    }

    /// The same for a reader.
    #[must_use]
    pub fn text(&self) -> OutputText<'_> {
        OutputText(self)
    }
}

/// Prints [`Captured`] as text.
#[derive(Debug, Clone, Copy)]
pub struct OutputText<'a>(&'a Captured);

impl fmt::Display for OutputText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        marked(&self.0.head, f)?;
        if self.0.omitted_bytes() > 0 {
            write!(f, "\n[... {} bytes left out ...]\n", self.0.omitted_bytes())?;
        }
        marked(&self.0.tail, f)
    }
}

/// Prints bytes as text, with what is not UTF-8 marked.
#[derive(Debug, Clone, Copy)]
pub struct Marked<'a>(pub &'a [u8]);

impl fmt::Display for Marked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        marked(self.0, f)
    }
}

fn marked(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        f.write_str(chunk.valid())?;
        for byte in chunk.invalid() {
            write!(f, "\\x{byte:02x}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf_8_are_marked_and_the_rest_is_intact() {
        let captured = Captured::new(b"h\xc3\xa9\xff\0\x1b[0m".to_vec(), Vec::new(), 9);
        assert_eq!(captured.text().to_string(), "h\u{e9}\\xff\0\u{1b}[0m");
    }

    #[test]
    fn less_can_be_kept_and_nothing_is_counted_twice() {
        let whole = Captured::new(b"abcdefgh".to_vec(), Vec::new(), 8);
        let cut = whole.shrunk_to(4);
        assert_eq!((cut.texts(), cut.omitted_bytes()), (["ab".into(), "gh".into()], 4));
        assert_eq!(whole.shrunk_to(8), whole);
        let cut = Captured::new(b"abcd".to_vec(), b"wxyz".to_vec(), 26).shrunk_to(2);
        assert_eq!((cut.texts(), cut.omitted_bytes()), (["a".into(), "z".into()], 24));
    }

    #[test]
    fn a_gap_is_named_with_its_size() {
        let captured = Captured::new(b"ab".to_vec(), b"yz".to_vec(), 26);
        assert_eq!(captured.text().to_string(), "ab\n[... 22 bytes left out ...]\nyz");
    }
}
