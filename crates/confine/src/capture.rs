//! What a child writes, kept within a bound while it is read.
//!
//! A stream is drained to its end by a thread of its own, so a child that writes more than anybody
//! keeps is never blocked by us. What is kept is the beginning and the end, half each; every byte is
//! counted. A stream ends when the last process that holds it ends, and all processes of a child end
//! with it, so a capture hangs nobody longer than the child lives.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::thread::{self, JoinHandle};

/// A stream that is being drained.
#[derive(Debug)]
pub struct Capture {
    reader: JoinHandle<io::Result<Captured>>,
}

/// What is left of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: u64,
}

impl Capture {
    /// Begins to drain a stream, and keeps at most `max` bytes of it.
    ///
    /// # Errors
    /// The machine gives no further thread.
    pub fn start(stream: impl Read + Send + 'static, max: usize) -> io::Result<Self> {
        let reader = thread::Builder::new()
            .name("confine-capture".to_owned())
            .spawn(move || Captured::read(stream, max))?;
        Ok(Self { reader })
    }

    /// Waits for the end of the stream.
    ///
    /// # Errors
    /// The stream broke.
    pub fn finish(self) -> io::Result<Captured> {
        let broken = || io::Error::other("the thread that reads the stream has panicked");
        self.reader.join().unwrap_or_else(|_| Err(broken()))
    }
}

impl Captured {
    /// Reads a stream to its end.
    fn read(mut stream: impl Read, max: usize) -> io::Result<Self> {
        let (head_max, tail_max) = (max.div_ceil(2), max / 2);
        let mut captured = Self::default();
        let mut chunk = vec![0; 64 * 1024];
        loop {
            match stream.read(&mut chunk) {
                Ok(0) => return Ok(captured),
                Ok(length) => captured.take(&chunk[..length], head_max, tail_max),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, bytes: &[u8], head_max: usize, tail_max: usize) {
        let room = head_max - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        // Of a chunk longer than the tail, only its end can stay.
        let (passed, kept) = rest.split_at(rest.len().saturating_sub(tail_max));
        let excess = (self.tail.len() + kept.len()).saturating_sub(tail_max);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend(kept);
        self.omitted += count(passed.len()) + count(excess);
    }

    /// The same with at most `max` bytes kept.
    #[must_use]
    pub fn shrunk_to(mut self, max: usize) -> Self {
        let (head_max, tail_max) = (max.div_ceil(2), max / 2);
        if self.head.len() + self.tail.len() > max {
            let from_head = self.head.len().saturating_sub(head_max);
            let from_tail = self.tail.len().saturating_sub(tail_max);
            self.head.truncate(head_max);
            self.tail.drain(..from_tail);
            self.omitted += count(from_head + from_tail);
        }
        self
    }

    /// How many bytes between the beginning and the end were left out.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// How many bytes the child wrote.
    #[must_use]
    pub fn total(&self) -> u64 {
        count(self.head.len()) + self.omitted + count(self.tail.len())
    }

    /// The beginning and the end, as bytes. Where nothing was left out they follow each other.
    #[must_use]
    pub fn parts(&self) -> (&[u8], Vec<u8>) {
        (&self.head, self.tail.iter().copied().collect())
    }

    /// The beginning and the end as text: one text where nothing was left out. Bytes that are not UTF-8
    /// become U+FFFD, and so does a character that the cut went through.
    #[must_use]
    pub fn text(&self) -> Vec<String> {
        let (head, tail) = self.parts();
        if self.omitted == 0 {
            let whole = [head, &tail].concat();
            return vec![String::from_utf8_lossy(&whole).into_owned()];
        }
        [head, &tail].map(|part| String::from_utf8_lossy(part).into_owned()).into()
    }
}

fn count(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn captured(bytes: &[u8], max: usize) -> Captured {
        Capture::start(io::Cursor::new(bytes.to_vec()), max).unwrap().finish().unwrap()
    }

    #[test]
    fn head_and_tail_are_kept_and_the_rest_is_counted() {
        let all = captured(b"0123456789", 4);
        assert_eq!(all.text(), ["01", "89"]);
        assert_eq!((all.omitted(), all.total()), (6, 10));
        let whole = captured("ä€".as_bytes(), 5);
        assert_eq!((whole.text(), whole.omitted()), (vec!["ä€".to_owned()], 0));
        assert_eq!(captured(b"\xff\xfeok", 10).text(), ["\u{fffd}\u{fffd}ok"]);
    }

    proptest! {
        #[test]
        fn every_byte_is_kept_or_counted(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..12),
            max in 0usize..64,
        ) {
            let all = chunks.concat();
            let mut kept = Captured::default();
            for chunk in &chunks {
                kept.take(chunk, max.div_ceil(2), max / 2);
            }
            let (head, tail) = kept.parts();
            prop_assert!(head.len() + tail.len() <= max);
            prop_assert_eq!(kept.total(), count(all.len()));
            prop_assert!(all.starts_with(head) && all.ends_with(&tail));
            prop_assert!(all.len() > max || kept.omitted() == 0);

            let less = kept.shrunk_to(max / 3);
            let (head, tail) = less.parts();
            prop_assert!(head.len() + tail.len() <= max / 3);
            prop_assert_eq!(less.total(), count(all.len()));
            prop_assert!(all.starts_with(head) && all.ends_with(&tail));
        }
    }
}
