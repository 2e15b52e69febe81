//! Lines of a file or a pipe, bounded, read on a thread of their own.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, IsTerminal, Read},
    path::Path,
};

use tokio::sync::mpsc;

use crate::{failure::Failure, out};

/// The longest line that is kept; a longer one is read to its end and answered as too long.
pub(super) const MAX_LINE: u64 = 32 * 1024 * 1024;

/// One line of input.
#[derive(Debug)]
pub(super) enum Line {
    /// A line without its line break.
    Text(Vec<u8>),
    /// The beginning of a line over [`MAX_LINE`].
    TooLong(Vec<u8>),
}

/// Whether the calls come from standard input.
pub(super) fn is_stdin(path: Option<&Path>) -> bool {
    path.is_none_or(|path| path == Path::new("-"))
}

/// Opens the input and begins to read it. Lines that are blank are skipped.
pub(super) fn read(
    path: Option<&Path>,
    ahead: usize,
) -> Result<mpsc::Receiver<io::Result<Line>>, Failure> {
    let input: Box<dyn BufRead + Send> = match path {
        Some(path) if !is_stdin(Some(path)) => {
            let fail = |error| Failure::Operator(format!("calls file {}: {error}", path.display()));
            let file = File::open(path).map_err(fail)?;
            if file.metadata().map_err(fail)?.is_dir() {
                return Err(fail(io::ErrorKind::IsADirectory.into()));
            }
            Box::new(BufReader::new(file))
        }
        _ => {
            if io::stdin().is_terminal() {
                out::note("remit: reading calls from the terminal, one JSON object a line");
            }
            Box::new(BufReader::new(io::stdin()))
        }
    };
    let (sender, receiver) = mpsc::channel(ahead.max(1));
    std::thread::Builder::new()
        .name("calls".to_owned())
        .spawn(move || pump(input, &sender))
        .map_err(|error| Failure::Broken(format!("no thread for reading: {error}")))?;
    Ok(receiver)
}

/// Sends lines until the input ends or breaks, or nobody wants more.
fn pump(mut input: Box<dyn BufRead + Send>, sender: &mpsc::Sender<io::Result<Line>>) {
    let mut is_first = true;
    while let Some(mut line) = next(&mut input).transpose() {
        if std::mem::take(&mut is_first) {
            without_mark(&mut line);
        }
        if matches!(&line, Ok(Line::Text(text)) if text.iter().all(u8::is_ascii_whitespace)) {
            continue;
        }
        let is_last = line.is_err();
        if sender.blocking_send(line).is_err() || is_last {
            return;
        }
    }
}

/// Some editors begin a file with a byte order mark; it is no part of the first call.
fn without_mark(line: &mut io::Result<Line>) {
    if let Ok(Line::Text(text)) = line
        && text.starts_with(b"\xef\xbb\xbf")
    {
        text.drain(..3);
    }
}

fn next(input: &mut dyn BufRead) -> io::Result<Option<Line>> {
    let mut text = Vec::new();
    if input.take(MAX_LINE).read_until(b'\n', &mut text)? == 0 {
        return Ok(None);
    }
    let is_cut = text.last() != Some(&b'\n') && text.len() as u64 == MAX_LINE;
    if is_cut && skip_line(input)? {
        text.truncate(1024);
        return Ok(Some(Line::TooLong(text)));
    }
    if text.last() == Some(&b'\n') {
        text.pop();
    }
    Ok(Some(Line::Text(text)))
}

/// Skips to the end of the line; `false` where it ended just there.
fn skip_line(input: &mut dyn BufRead) -> io::Result<bool> {
    let mut is_longer = false;
    loop {
        let chunk = input.fill_buf()?;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let skipped = end.map_or(chunk.len(), |end| end + 1);
        is_longer |= end.unwrap_or(chunk.len()) > 0;
        let is_over = end.is_some() || chunk.is_empty();
        input.consume(skipped);
        if is_over {
            return Ok(is_longer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_nothing_is_lost_after_a_long_one() {
        let max = usize::try_from(MAX_LINE).unwrap();
        let mut text = vec![b'x'; max + 5];
        text.extend(b"\nshort\n\r\nlast");
        let mut input: &[u8] = &text;
        assert!(matches!(next(&mut input).unwrap(), Some(Line::TooLong(t)) if t.len() == 1024));
        let mut rest = Vec::new();
        while let Some(Line::Text(line)) = next(&mut input).unwrap() {
            rest.push(String::from_utf8(line).unwrap());
        }
        assert_eq!(rest, ["short", "\r", "last"]);

        let mut exact: &[u8] = &[vec![b'x'; max], b"\nnext".to_vec()].concat();
        assert!(matches!(next(&mut exact).unwrap(), Some(Line::Text(t)) if t.len() == max));
        assert!(matches!(next(&mut exact).unwrap(), Some(Line::Text(t)) if t == b"next"));
    }
}
