//! A stream as lines of bounded length. What is longer is skipped to its end, and never kept.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// What a read of a line gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its end; the last one of a stream may have none.
    Whole(Vec<u8>),
    TooLong,
    End,
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of the line is skipped, because it is too long.
    is_skipping: bool,
    max: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Lines of at most `max` bytes.
    pub(super) fn new(input: R, max: usize) -> Self {
        Self { input: BufReader::new(input), line: Vec::new(), is_skipping: false, max }
    }

    pub(super) fn max(&self) -> usize {
        self.max
    }

    /// The next line. May be dropped and called again at any time.
    pub(super) async fn next(&mut self) -> io::Result<Line> {
        loop {
            let chunk = self.input.fill_buf().await?;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let is_end = chunk.is_empty();
            let taken = end.map_or(chunk.len(), |end| end + 1);
            if !self.is_skipping {
                let part = &chunk[..end.unwrap_or(taken)];
                self.is_skipping = self.line.len() + part.len() > self.max;
                if self.is_skipping {
                    self.line = Vec::new();
                } else {
                    self.line.extend_from_slice(part);
                }
            }
            self.input.consume(taken);
            if end.is_none() && !is_end {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if std::mem::take(&mut self.is_skipping) {
                return Ok(Line::TooLong);
            }
            if is_end && line.is_empty() {
                return Ok(Line::End);
            }
            return Ok(Line::Whole(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// The lines of a text that comes in pieces of these sizes.
    fn read(text: &[u8], pieces: &[usize], max: usize) -> Vec<Line> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (mut there, here) = tokio::io::duplex(16);
            let (text, pieces) = (text.to_vec(), pieces.to_vec());
            let writing = tokio::spawn(async move {
                let (mut rest, mut sizes) = (&text[..], pieces.iter().cycle());
                while !rest.is_empty() {
                    let size = sizes.next().map_or(1, |size| (*size).clamp(1, rest.len()));
                    there.write_all(&rest[..size]).await.unwrap();
                    rest = &rest[size..];
                }
            });
            let (mut reader, mut lines) = (LineReader::new(here, max), Vec::new());
            loop {
                // A read that is given up loses nothing.
                let given_up = tokio::time::timeout(std::time::Duration::ZERO, reader.next()).await;
                let line = match given_up {
                    Ok(line) => line.unwrap(),
                    Err(_) => reader.next().await.unwrap(),
                };
                if line == Line::End {
                    break;
                }
                lines.push(line);
            }
            writing.await.unwrap();
            lines
        })
    }

    /// The same, said plainly.
    fn expected(text: &[u8], max: usize) -> Vec<Line> {
        let mut lines: Vec<_> = text.split(|byte| *byte == b'\n').collect();
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        let line = |line: &[u8]| match line.len() <= max {
            true => Line::Whole(line.to_vec()),
            false => Line::TooLong,
        };
        lines.into_iter().map(line).collect()
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_they_came(
            text in proptest::collection::vec(
                prop_oneof![4 => Just(b'a'), 1 => Just(b'\n'), 1 => any::<u8>()], 0..200),
            pieces in proptest::collection::vec(1usize..40, 1..10),
            max in 0usize..30,
        ) {
            prop_assert_eq!(read(&text, &pieces, max), expected(&text, max));
        }
    }

    #[test]
    fn a_line_of_a_gigabyte_is_not_kept() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let long = tokio::io::AsyncReadExt::take(tokio::io::repeat(b'a'), 1 << 30);
            let mut reader = LineReader::new(long, 1000);
            assert_eq!(reader.next().await.unwrap(), Line::TooLong);
            assert!(reader.line.capacity() <= 16 * 1024);
            assert_eq!(reader.next().await.unwrap(), Line::End);
        });
    }
}
