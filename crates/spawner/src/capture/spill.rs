//! The file of an agent's output: frames, in the order in which they came.
//!
//! A frame is four bytes (what it is, and its length in three bytes, little-endian) and its bytes: of
//! standard output, of standard error, or the number of bytes that were left out at this place. Up to
//! a limit everything is kept; of what comes after, the end is held in memory, and appended when the
//! stream is over. The beginning and the end together are at most what the operator allows.

use std::{
    collections::VecDeque,
    fs::{File, OpenOptions},
    io::{self, IoSlice, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use super::OutputStream;

/// The longest frame.
pub(super) const MAX_FRAME: usize = 0xff_ffff;
pub(super) const HEADER: usize = 4;
/// How much of the limit is for the end, at most.
const TAIL: u64 = 16 * 1024;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    Bytes(OutputStream),
    Gap,
}

impl Frame {
    pub(super) fn tag(self) -> u8 {
        match self {
            Self::Bytes(OutputStream::Stdout) => 1,
            Self::Bytes(OutputStream::Stderr) => 2,
            Self::Gap => 3,
            Self::Bytes(OutputStream::Diff) => 4,
        }
    }

    pub(super) fn of(tag: u8) -> Option<Self> {
        match tag {
            1 => Some(Self::Bytes(OutputStream::Stdout)),
            2 => Some(Self::Bytes(OutputStream::Stderr)),
            3 => Some(Self::Gap),
            4 => Some(Self::Bytes(OutputStream::Diff)),
            _ => None,
        }
    }
}

/// How much a file holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Bytes of output, frames not counted.
    pub(crate) bytes: u64,
    /// The size of the file.
    pub(crate) file: u64,
    /// Bytes that were left out.
    pub(crate) omitted: u64,
}

/// The file, while it is written.
#[derive(Debug)]
pub(super) struct Spill {
    file: File,
    kept: Kept,
    /// How much is kept of the beginning, and of the end.
    max: u64,
    tail_max: usize,
    /// The end of what came after the limit.
    tail: VecDeque<(OutputStream, Vec<u8>)>,
    tail_bytes: usize,
}

impl Spill {
    pub(super) fn create(path: &Path, max: u64) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
        let tail = (max / 4).min(TAIL);
        Ok(Self {
            file,
            kept: Kept::default(),
            max: max - tail,
            tail_max: usize::try_from(tail).unwrap_or(usize::MAX),
            tail: VecDeque::new(),
            tail_bytes: 0,
        })
    }

    pub(super) fn kept(&self) -> Kept {
        self.kept
    }

    pub(super) fn write(&mut self, stream: OutputStream, bytes: &[u8]) -> io::Result<()> {
        let room = usize::try_from(self.max - self.kept.bytes).unwrap_or(usize::MAX);
        let (fits, over) = bytes.split_at(room.min(bytes.len()));
        let written = fits.chunks(MAX_FRAME).try_for_each(|part| self.frame(stream, part));
        if !over.is_empty() {
            // Later bytes must not be put where earlier ones had no room.
            self.max = self.kept.bytes;
            self.drop_into_tail(stream, over);
        }
        if written.is_err() {
            self.max = self.kept.bytes;
        }
        written
    }

    fn frame(&mut self, stream: OutputStream, bytes: &[u8]) -> io::Result<()> {
        self.put(Frame::Bytes(stream), bytes)?;
        self.kept.bytes += count(bytes.len());
        Ok(())
    }

    fn put(&mut self, frame: Frame, bytes: &[u8]) -> io::Result<()> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
        let header = [frame.tag(), length[0], length[1], length[2]];
        let mut parts = [IoSlice::new(&header), IoSlice::new(bytes)];
        let mut parts = &mut parts[..];
        // One call as a rule, so that a reader sees whole frames.
        while !parts.is_empty() {
            match self.file.write_vectored(parts) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut parts, written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.kept.file += count(HEADER + bytes.len());
        Ok(())
    }

    fn drop_into_tail(&mut self, stream: OutputStream, bytes: &[u8]) {
        self.kept.omitted += count(bytes.len());
        let end = bytes.get(bytes.len().saturating_sub(self.tail_max)..).unwrap_or_default();
        match self.tail.back_mut() {
            Some((last, kept)) if *last == stream => kept.extend_from_slice(end),
            _ => self.tail.push_back((stream, end.to_vec())),
        }
        self.tail_bytes += end.len();
        while self.tail_bytes > self.tail_max {
            let excess = self.tail_bytes - self.tail_max;
            let Some((_, first)) = self.tail.front_mut() else { return };
            let cut = excess.min(first.len());
            first.drain(..cut);
            self.tail_bytes -= cut;
            if first.is_empty() {
                self.tail.pop_front();
            }
        }
    }

    /// Appends the end of what came after the limit.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if self.kept.omitted == 0 {
            return Ok(());
        }
        let omitted = self.kept.omitted - count(self.tail_bytes);
        if omitted > 0 {
            self.put(Frame::Gap, &omitted.to_le_bytes())?;
        }
        for (stream, bytes) in std::mem::take(&mut self.tail) {
            self.frame(stream, &bytes)?;
        }
        self.kept.omitted = omitted;
        Ok(())
    }
}

pub(super) fn count(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
