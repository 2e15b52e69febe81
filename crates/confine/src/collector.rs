//! The head and the tail of a stream, within a fixed number of bytes, whatever its length.

use std::collections::VecDeque;

use crate::Captured;

/// Keeps the first half of its bound as it comes, and the last half in a ring.
#[derive(Debug)]
pub struct Collector {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    total: u64,
}

impl Collector {
    /// A collector that keeps at most `max` bytes.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: max / 2, total: 0 }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.half - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// What was kept so far.
    #[must_use]
    pub fn kept(&self) -> Captured {
        Captured::new(self.head.clone(), self.tail.iter().copied().collect(), self.total)
    }

    /// What was kept so far; the collector is empty afterwards.
    pub fn take(&mut self) -> Captured {
        let head = std::mem::take(&mut self.head);
        let tail = Vec::from(std::mem::take(&mut self.tail));
        let total = std::mem::take(&mut self.total);
        Captured::new(head, tail, total)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collect(max: usize, chunks: &[&[u8]]) -> Captured {
        let mut collector = Collector::new(max);
        chunks.iter().for_each(|chunk| collector.push(chunk));
        collector.take()
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let captured = collect(8, &[b"abc", b"de", b"fgh"]);
        assert_eq!(captured.text().to_string(), "abcdefgh");
        assert_eq!(captured.omitted_bytes(), 0);
    }

    #[test]
    fn past_the_bound_head_and_tail_are_kept_and_the_rest_is_counted() {
        for split in 0..12 {
            let (a, b) = b"abcdefghijkl".split_at(split);
            let captured = collect(8, &[a, b]);
            assert_eq!((captured.head(), captured.tail()), (&b"abcd"[..], &b"ijkl"[..]));
            assert_eq!((captured.omitted_bytes(), captured.total_bytes()), (4, 12));
        }
    }

    proptest! {
        #[test]
        fn every_byte_is_kept_or_counted(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
            max in 0usize..64,
        ) {
            let all = chunks.concat();
            let mut collector = Collector::new(max);
            chunks.iter().for_each(|chunk| collector.push(chunk));
            for (kept, max) in [(collector.kept(), max), (collector.kept().shrunk_to(max / 3), max / 3)] {
                prop_assert!(kept.head().len() + kept.tail().len() <= max);
                prop_assert_eq!(kept.total_bytes(), all.len() as u64);
                prop_assert!(all.starts_with(kept.head()) && all.ends_with(kept.tail()));
                let held = (kept.head().len() + kept.tail().len()) as u64;
                prop_assert_eq!(kept.omitted_bytes() + held, kept.total_bytes());
            }
            prop_assert!(all.len() > max / 2 * 2 || collector.kept().omitted_bytes() == 0);
        }
    }

    #[test]
    fn taking_empties_it() {
        let mut collector = Collector::new(8);
        collector.push(b"x");
        assert_eq!(collector.kept().total_bytes(), 1);
        assert_eq!(collector.kept(), collector.take());
        collector.push(b"x");
        assert_eq!(collector.take().total_bytes(), 1);
        assert_eq!(collector.take().total_bytes(), 0);
    }
}
