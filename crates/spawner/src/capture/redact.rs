//! Secrets out of a stream whose pieces may cut one in two.
//!
//! A piece is let through up to its last newline; what is behind it waits for the rest of its line. A
//! line that grows too long is let through but for its end, at a place where no secret stands. What
//! waits is let go when the stream pauses or ends.

use super::patterns;

/// How much of a line may wait.
const LONGEST: usize = 4096;

/// One stream.
#[derive(Debug, Default)]
pub(super) struct Redactor {
    rest: Vec<u8>,
}

impl Redactor {
    /// Takes bytes, and gives those that can be shown.
    pub(super) fn push(&mut self, bytes: &[u8], clean: &mut Vec<u8>) {
        // A newline further back is of no use: what is behind it would be too long to wait.
        let from = bytes.len().saturating_sub(LONGEST);
        let end = bytes.get(from..).unwrap_or_default();
        let newline = end.iter().rposition(|byte| *byte == b'\n').map(|at| from + at + 1);
        if self.rest.is_empty()
            && let Some(at) = newline
        {
            let (whole, rest) = bytes.split_at(at);
            clean.extend_from_slice(&patterns::clean(whole));
            self.rest.extend_from_slice(rest);
            return;
        }
        let held = self.rest.len();
        self.rest.extend_from_slice(bytes);
        let at = newline.map_or(0, |at| held + at);
        let at = if self.rest.len() - at > LONGEST { self.border() } else { at };
        let rest = self.rest.split_off(at);
        clean.extend_from_slice(&patterns::clean(&self.rest));
        self.rest = rest;
    }

    /// A place near the end where no secret stands.
    fn border(&self) -> usize {
        let at = self.rest.len() - LONGEST / 2;
        // A secret that is longer than this is let go in parts, and each is removed.
        let from = at.saturating_sub(2 * LONGEST);
        let window = self.rest.get(from..).unwrap_or_default();
        patterns::secret_across(window, at - from).map_or(at, |start| from + start)
    }

    pub(super) fn flush(&mut self, clean: &mut Vec<u8>) {
        clean.extend_from_slice(&patterns::clean(&self.rest));
        self.rest = Vec::new();
    }

    pub(super) fn holds_back(&self) -> bool {
        !self.rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn through(pieces: &[&[u8]]) -> Vec<u8> {
        let (mut redactor, mut clean) = (Redactor::default(), Vec::new());
        for piece in pieces {
            redactor.push(piece, &mut clean);
            assert!(redactor.rest.len() <= 4 * LONGEST + piece.len());
        }
        redactor.flush(&mut clean);
        clean
    }

    #[test]
    fn a_secret_in_two_pieces_is_removed_wherever_it_is_cut() {
        let text = format!("a {{\"password\": \"hunter2\"}} sk-ant-{} z\nnext", "x1".repeat(20));
        let expected = "a {\"password\": \"[redacted]\"} [redacted] z\nnext";
        for at in 0..text.len() {
            let (one, other) = text.as_bytes().split_at(at);
            assert_eq!(through(&[one, other]), expected.as_bytes(), "cut at {at}");
        }
        let long = format!("{}{text}", "y".repeat(3 * LONGEST));
        for at in 3 * LONGEST..long.len() {
            let (one, other) = long.as_bytes().split_at(at);
            let clean = String::from_utf8(through(&[one, other])).unwrap();
            assert!(!clean.contains("hunter2") && !clean.contains("x1x1"), "cut at {at}");
        }
    }

    proptest! {
        #[test]
        fn what_holds_no_secret_comes_through_whole(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..3000), 0..8),
        ) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let all = pieces.concat();
            prop_assume!(patterns::clean(&all) == all);
            prop_assert_eq!(through(&pieces), all);
        }
    }
}
