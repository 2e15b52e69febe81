//! Reading an agent's output by offset, while it grows and after.
//!
//! An offset counts bytes of output, both streams together in the order in which they came. Every read
//! says where the next one goes on, so nothing is lost and nothing comes twice. A file that ends in the
//! middle of a frame (its host was killed) is read up to there.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use super::{
    OutputStream, ansi,
    spill::{Frame, HEADER, count},
};

/// A part of an agent's output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// What it holds, in order.
    pub pieces: Vec<OutputPiece>,
    /// The offset where the next read goes on.
    pub next: u64,
}

/// One piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputPiece {
    /// Bytes of a stream.
    Bytes {
        /// Which.
        stream: OutputStream,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// So many bytes were left out here.
    Omitted {
        /// How many.
        bytes: u64,
    },
}

impl Output {
    /// Reads at most `max` bytes from an offset.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn read(path: &Path, since: u64, max: usize) -> io::Result<Self> {
        let mut frames = Frames::open(path)?;
        let mut output = Self { pieces: Vec::new(), next: since };
        let (mut at, mut room) = (0, max);
        while let Some((frame, length)) = frames.next()? {
            let end = match frame {
                Frame::Gap => {
                    let omitted = frames.gap()?;
                    if at >= since && room > 0 {
                        output.pieces.push(OutputPiece::Omitted { bytes: omitted });
                    }
                    continue;
                }
                Frame::Bytes(_) => at + length,
            };
            if room == 0 {
                break;
            }
            let skipped = since.saturating_sub(at).min(length);
            frames.skip(skipped)?;
            let wanted = usize::try_from(length - skipped).unwrap_or(usize::MAX).min(room);
            let bytes = frames.bytes(wanted)?;
            frames.skip(length - skipped - count(bytes.len()))?;
            room -= bytes.len();
            output.next = output.next.max(at + skipped + count(bytes.len()));
            if let Frame::Bytes(stream) = frame {
                output.push(stream, bytes);
            }
            at = end;
        }
        output.next = output.next.min(at);
        Ok(output)
    }

    /// Reads the beginning and the end, together at most `max` bytes, with what is left out between.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn read_ends(path: &Path, max: usize) -> io::Result<Self> {
        let total = Self::length(path)?;
        if total <= count(max) {
            return Self::read(path, 0, max);
        }
        let mut output = Self::read(path, 0, max.div_ceil(2))?;
        let tail = Self::read(path, total - count(max / 2), max / 2)?;
        let between = total - count(max / 2) - output.next;
        output.pieces.push(OutputPiece::Omitted { bytes: between });
        output.pieces.extend(tail.pieces);
        output.next = tail.next;
        Ok(output)
    }

    /// The end of one stream, at most `max` bytes.
    pub(crate) fn read_stream(
        path: &Path,
        wanted: OutputStream,
        max: usize,
    ) -> io::Result<Vec<u8>> {
        let from = Self::length(path)?.saturating_sub(count(max));
        let pieces = Self::read(path, from, max)?.pieces.into_iter();
        let parts: Vec<_> = pieces
            .filter_map(|piece| match piece {
                OutputPiece::Bytes { stream, bytes } if stream == wanted => Some(bytes),
                _ => None,
            })
            .collect();
        Ok(parts.concat())
    }

    /// How many bytes of output a file holds.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn length(path: &Path) -> io::Result<u64> {
        let (mut frames, mut total) = (Frames::open(path)?, 0);
        while let Some((frame, length)) = frames.next()? {
            frames.skip(length)?;
            total += if frame == Frame::Gap { 0 } else { length };
        }
        Ok(total)
    }

    /// The same without a character or an escape sequence that is cut in two at its end: the next read
    /// begins with it.
    #[must_use]
    pub(crate) fn without_cut_end(mut self) -> Self {
        if let Some(OutputPiece::Bytes { bytes, .. }) = self.pieces.last_mut() {
            let cut = incomplete_character(bytes).max(ansi::incomplete_tail(bytes));
            // What is nothing else stays: a reader must get on.
            if cut < bytes.len() {
                bytes.truncate(bytes.len() - cut);
                self.next -= count(cut);
            }
        }
        self
    }

    /// How many bytes of output it holds.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        let bytes = self.pieces.iter().map(|piece| match piece {
            OutputPiece::Bytes { bytes, .. } => count(bytes.len()),
            OutputPiece::Omitted { .. } => 0,
        });
        bytes.sum()
    }

    fn push(&mut self, stream: OutputStream, new: Vec<u8>) {
        match self.pieces.last_mut() {
            _ if new.is_empty() => {}
            Some(OutputPiece::Bytes { stream: last, bytes }) if *last == stream => {
                bytes.extend(new)
            }
            _ => self.pieces.push(OutputPiece::Bytes { stream, bytes: new }),
        }
    }
}

/// How many bytes at the end begin a UTF-8 character that is not complete.
fn incomplete_character(bytes: &[u8]) -> usize {
    let tail = bytes.get(bytes.len().saturating_sub(4)..).unwrap_or_default();
    let Some(lead) = tail.iter().rposition(|byte| byte & 0xc0 != 0x80) else { return 0 };
    let behind = tail.len() - lead;
    let needed = match tail.get(lead) {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 1,
    };
    if behind < needed { behind } else { 0 }
}

/// The frames of a file, one after the other, as far as they are whole.
struct Frames {
    file: BufReader<File>,
    /// Bytes of the file behind the reader.
    left: u64,
}

impl Frames {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let left = file.metadata()?.len();
        Ok(Self { file: BufReader::with_capacity(64 * 1024, file), left })
    }

    /// The next frame, with the length of what of it is there.
    fn next(&mut self) -> io::Result<Option<(Frame, u64)>> {
        if self.left < count(HEADER) {
            return Ok(None);
        }
        let mut header = [0; HEADER];
        self.file.read_exact(&mut header)?;
        self.left -= count(HEADER);
        let [tag, low, middle, high] = header;
        let length = u64::from(u32::from_le_bytes([low, middle, high, 0]));
        let frame = Frame::of(tag).ok_or_else(|| io::Error::other("no file of output"))?;
        Ok(match frame {
            Frame::Gap if self.left < length => None,
            frame => Some((frame, length.min(self.left))),
        })
    }

    fn gap(&mut self) -> io::Result<u64> {
        let mut omitted = [0; 8];
        self.file.read_exact(&mut omitted)?;
        self.left -= count(omitted.len());
        Ok(u64::from_le_bytes(omitted))
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        self.left -= bytes;
        self.file.seek_relative(i64::try_from(bytes).map_err(io::Error::other)?)
    }

    fn bytes(&mut self, wanted: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; wanted];
        self.file.read_exact(&mut bytes)?;
        self.left -= count(wanted);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::spill::Spill, *};

    fn whole(output: &Output) -> Vec<u8> {
        let pieces = output.pieces.iter().map(|piece| match piece {
            OutputPiece::Bytes { bytes, .. } => bytes.clone(),
            OutputPiece::Omitted { .. } => Vec::new(),
        });
        pieces.collect::<Vec<_>>().concat()
    }

    #[test]
    fn past_the_limit_the_beginning_and_the_end_are_kept_and_the_rest_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut spill = Spill::create(&path, 1000).unwrap();
        for _ in 0..100_000 {
            spill.write(OutputStream::Stdout, b"0123456789").unwrap();
        }
        spill.write(OutputStream::Stderr, b"end").unwrap();
        spill.finish().unwrap();
        let output = Output::read(&path, 0, usize::MAX).unwrap();
        let kept = whole(&output);
        assert!(kept.starts_with(b"0123456789") && kept.ends_with(b"789end"));
        let omitted = spill.kept().omitted;
        assert_eq!(omitted + u64::try_from(kept.len()).unwrap(), 1_000_003);
        assert!(output.pieces.contains(&OutputPiece::Omitted { bytes: omitted }));
        assert!(kept.len() <= 1000);
    }

    #[test]
    fn a_character_that_is_cut_waits_for_the_next_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut spill = Spill::create(&path, 100).unwrap();
        spill.write(OutputStream::Stdout, "aä\u{1b}[31mb".as_bytes()).unwrap();
        for (max, expected) in [(2, "a"), (3, "aä"), (5, "aä"), (8, "aä\u{1b}[31m")] {
            let output = Output::read(&path, 0, max).unwrap().without_cut_end();
            assert_eq!(whole(&output), expected.as_bytes());
            assert_eq!(output.next, u64::try_from(expected.len()).unwrap());
        }
    }

    proptest! {
        #[test]
        fn reads_in_any_steps_give_every_byte_once(
            writes in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..50)), 0..20),
            steps in proptest::collection::vec(1_usize..40, 1..8),
            torn in 0_u64..60,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out");
            let mut spill = Spill::create(&path, 1 << 20).unwrap();
            for (is_out, bytes) in &writes {
                let stream = if *is_out { OutputStream::Stdout } else { OutputStream::Stderr };
                spill.write(stream, bytes).unwrap();
            }
            let all: Vec<u8> = writes.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
            let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            let length = file.metadata().unwrap().len();
            file.set_len(length.saturating_sub(torn)).unwrap();

            let (mut read, mut at, mut step) = (Vec::new(), 0, steps.iter().cycle());
            loop {
                let output = Output::read(&path, at, *step.next().unwrap()).unwrap();
                prop_assert_eq!(output.next, at + output.len_bytes());
                if output.len_bytes() == 0 { break }
                at = output.next;
                read.extend(whole(&output));
            }
            prop_assert!(all.starts_with(&read));
            prop_assert!(torn > 0 || read == all);
            prop_assert_eq!(Output::length(&path).unwrap(), at);
            let past = Output::read(&path, at + 100, 10).unwrap();
            prop_assert_eq!((past.len_bytes(), past.next), (0, at));
            let ends = whole(&Output::read_ends(&path, 16).unwrap());
            prop_assert!(ends.len() <= 16 && read.starts_with(&ends[..ends.len().min(8)]));
        }
    }
}
