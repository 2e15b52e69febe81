//! What the fuzz target does with an input. The crate's tests run the same function over the seeds.
//!
//! It takes any bytes and panics where a promise of the reader is broken: the lines are those of the
//! stream, however it comes and however often a read is given up; what is too long is told once.

use std::{
    io,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use tokio::io::{AsyncRead, ReadBuf};

use super::reader::{Line, LineReader};

/// The first byte is the most that a line may have, the second one says how the rest comes.
pub(crate) fn stdio_lines(data: &[u8]) {
    let [max, manner, stream @ ..] = data else { return };
    let max = usize::from(*max);
    let mut reader = LineReader::new(Pieces::new(stream, *manner), max);
    for expected in expected(stream, max) {
        assert_eq!(next(&mut reader), expected);
    }
    assert_eq!(next(&mut reader), Line::End);
    assert_eq!(next(&mut reader), Line::End);
}

/// The lines of the stream, said plainly.
fn expected(stream: &[u8], max: usize) -> impl Iterator<Item = Line> {
    let whole = stream.strip_suffix(b"\n").unwrap_or(stream);
    let lines = (!stream.is_empty()).then(|| whole.split(|byte| *byte == b'\n'));
    lines.into_iter().flatten().map(move |line| match line.len() <= max {
        true => Line::Whole(line.to_vec()),
        false => Line::TooLong,
    })
}

/// A read is given up whenever it would have to wait, and begun anew.
fn next(reader: &mut LineReader<Pieces<'_>>) -> Line {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(line) = pin!(reader.next()).poll(&mut context) {
            return line.expect("the stream has no errors");
        }
    }
}

/// A stream in pieces of different sizes; before some of them it has to be waited for.
struct Pieces<'a> {
    rest: &'a [u8],
    state: u32,
    has_waited: bool,
}

impl<'a> Pieces<'a> {
    fn new(rest: &'a [u8], manner: u8) -> Self {
        Self { rest, state: u32::from(manner), has_waited: false }
    }

    /// The next of a fixed row of numbers.
    fn number(&mut self) -> usize {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.state >> 24) as usize
    }
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.has_waited = !self.has_waited && self.number().is_multiple_of(2);
        if self.has_waited {
            return Poll::Pending;
        }
        let size = (1 + self.number() / 4).min(self.rest.len()).min(into.remaining());
        let (piece, rest) = self.rest.split_at(size);
        into.put_slice(piece);
        self.rest = rest;
        Poll::Ready(Ok(()))
    }
}
