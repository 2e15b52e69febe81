//! The lines of a file, in bounded memory.

use std::io::{self, BufRead, BufReader, Read};

/// How much is read at once, in bytes.
const CHUNK: usize = 64 * 1024;

/// How much of a file is looked at to tell whether it is text, in bytes.
const SNIFFED: usize = 8 * 1024;

/// Gives one line after the other.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    max_line: u64,
    line: Vec<u8>,
    number: u64,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Its bytes without the line break; at most `max_line` of them.
    pub(super) bytes: &'a [u8],
    /// Counted from 1.
    pub(super) number: u64,
    /// Whether it was longer.
    pub(super) is_cut: bool,
}

impl<R: Read> Lines<R> {
    /// The lines of a file, the first `max_line` bytes of each.
    pub(super) fn new(file: R, max_line: u64) -> Self {
        let reader = BufReader::with_capacity(CHUNK, file);
        Self { reader, max_line, line: Vec::new(), number: 0 }
    }

    /// Whether there is a NUL near the beginning. To be asked before the first line is read.
    pub(super) fn is_binary(&mut self) -> io::Result<bool> {
        let head = self.reader.fill_buf()?;
        Ok(head[..head.len().min(SNIFFED)].contains(&0))
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let read =
            self.reader.by_ref().take(self.max_line + 1).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let has_end = self.line.last() == Some(&b'\n');
        let is_cut = !has_end && self.line.len() as u64 > self.max_line;
        if is_cut {
            self.line.pop();
            self.reader.skip_until(b'\n')?;
        }
        let bytes = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let bytes = if has_end { bytes.strip_suffix(b"\r").unwrap_or(bytes) } else { bytes };
        Ok(Some(Line { bytes, number: self.number, is_cut }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<(usize, u64, bool)> {
        let mut lines = Lines::new(bytes, 1000);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push((line.bytes.len(), line.number, line.is_cut));
        }
        all
    }

    #[test]
    fn lines_end_where_they_end() {
        assert_eq!(read(b""), []);
        assert_eq!(read(b"a"), [(1, 1, false)]);
        assert_eq!(read(b"a\r\n\nbc\n"), [(1, 1, false), (0, 2, false), (2, 3, false)]);
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_found() {
        let max = 1000;
        let mut bytes = vec![b'a'; 300 * max];
        bytes.extend(b"\nb\n");
        assert_eq!(read(&bytes), [(max, 1, true), (1, 2, false)]);
        let mut exact = vec![b'a'; max];
        assert_eq!(read(&exact), [(max, 1, false)]);
        exact.push(b'\n');
        assert_eq!(read(&exact), [(max, 1, false)]);
    }
}
