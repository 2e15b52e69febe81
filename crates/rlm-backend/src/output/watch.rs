//! Output shown while the code runs: pieces of text, as they are read.
//!
//! A piece never ends inside a character: bytes that may begin one are held until the next read, or
//! until the call ends. What is not UTF-8 is marked as in the result, so the pieces of a stream put
//! together are its text. Nothing is bounded here; a watcher that keeps what it sees bounds it.

use std::{fmt, sync::Arc};

use confine::Marked;

/// Which stream a piece of output is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputSource {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Sees the output of a call while it runs.
pub trait OutputWatcher: fmt::Debug + Send + Sync {
    /// Takes the next piece of a stream. Called in the order of the reads, from the task that follows
    /// the call, which waits: it must not block. The last piece comes before the call's outcome.
    fn output(&self, source: OutputSource, text: &str);
}

/// The pieces of one stream on their way to a watcher.
#[derive(Debug)]
pub(super) struct Watched {
    watcher: Arc<dyn OutputWatcher>,
    source: OutputSource,
    /// The beginning of a character: at most three bytes.
    held: Vec<u8>,
}

impl Watched {
    pub(super) fn new(watcher: Arc<dyn OutputWatcher>, source: OutputSource) -> Self {
        Self { watcher, source, held: Vec::new() }
    }

    /// Shows what is whole of the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.held.is_empty() {
            let (whole, rest) = bytes.split_at(bytes.len() - unfinished(bytes));
            self.show(whole);
            self.held.extend_from_slice(rest);
            return;
        }
        let mut joined = std::mem::take(&mut self.held);
        joined.extend_from_slice(bytes);
        self.held = joined.split_off(joined.len() - unfinished(&joined));
        self.show(&joined);
    }

    /// Shows what was held: no more comes.
    pub(super) fn finish(mut self) {
        let held = std::mem::take(&mut self.held);
        self.show(&held);
    }

    fn show(&self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok("") => {}
            Ok(text) => self.watcher.output(self.source, text),
            Err(_) => self.watcher.output(self.source, &Marked(bytes).to_string()),
        }
    }
}

/// How many bytes at the end begin a character that is not whole yet.
fn unfinished(bytes: &[u8]) -> usize {
    let end = &bytes[bytes.len().saturating_sub(3)..];
    let Some(at) = end.iter().rposition(|byte| !(0x80..0xc0).contains(byte)) else { return 0 };
    match std::str::from_utf8(&end[at..]) {
        // Not wrong, but over too soon.
        Err(error) if error.error_len().is_none() => end.len() - at - error.valid_up_to(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use confine::Collector;
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Default)]
    struct Pieces(Mutex<Vec<String>>);

    impl OutputWatcher for Pieces {
        fn output(&self, _: OutputSource, text: &str) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
        }
    }

    fn pieces(reads: &[&[u8]]) -> Vec<String> {
        let seen = Arc::new(Pieces::default());
        let mut watched = Watched::new(Arc::clone(&seen) as _, OutputSource::Stdout);
        reads.iter().for_each(|read| watched.push(read));
        watched.finish();
        seen.0.lock().unwrap().clone()
    }

    #[test]
    fn a_character_is_shown_when_it_is_whole() {
        assert_eq!(pieces(&[b"a\xf0\x9f", b"\x98", b"\x80b"]), ["a", "\u{1f600}b"]);
        assert_eq!(pieces(&[b"a", b"", b"b"]), ["a", "b"]);
    }

    #[test]
    fn what_never_becomes_a_character_is_marked() {
        assert_eq!(pieces(&[b"a\xc3"]), ["a", "\\xc3"]);
        assert_eq!(pieces(&[b"\xc3", b"x\xff"]), ["\\xc3x\\xff"]);
        assert_eq!(pieces(&[b"\x80\x80\x80"]), ["\\x80\\x80\\x80"]);
    }

    proptest! {
        #[test]
        fn the_pieces_together_are_the_text(
            bytes in prop::collection::vec(
                prop::sample::select(&b"a\xc3\xa9\xf0\x9f\x98\x80\xff\xe2\x82\xac"[..]), 0..40),
            cuts in prop::collection::vec(0_usize..40, 0..6),
        ) {
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let reads: Vec<_> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let mut collector = Collector::new(1000);
            collector.push(&bytes);
            prop_assert_eq!(pieces(&reads).concat(), collector.take().text().to_string());
        }
    }
}
