//! The control channel from the host's side: bytes out, lines in, both at once.
//!
//! Reading goes on while something waits to be written, so a large request and a talkative driver
//! cannot block each other. A line is bounded; past the bound the channel counts as broken.
//!
//! The event loop knows of the channel only while somebody waits in it ([`Control::next_line`], until
//! [`Control::rest`]): an answer that comes at once wakes nobody else then.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use tokio::net::unix::pipe::{Receiver, Sender};

use crate::output::is_not_now;

const CHUNK: usize = 8 << 10;
/// How much of a text is read at once: what a pipe holds.
const PIECE: usize = 64 << 10;

/// What came from the driver.
#[derive(Debug)]
pub(super) enum Line {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// The driver's end is closed.
    Ended,
    /// A line was longer than allowed.
    TooLong,
}

/// Both directions of the channel.
#[derive(Debug)]
pub(super) struct Control {
    output: OwnedFd,
    unsent: Vec<u8>,
    input: OwnedFd,
    received: Received,
    waiting: Option<Waiting>,
}

/// The channel as the event loop knows it: descriptors of its own.
#[derive(Debug)]
struct Waiting {
    output: Sender,
    input: Receiver,
}

impl Control {
    /// Takes the host's ends: requests are written to `output`, events read from `input`.
    /// Texts are announced with `token`.
    pub(super) fn new(
        output: OwnedFd,
        input: OwnedFd,
        max_line: usize,
        token: &str,
    ) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&output, true)?;
        rustix::io::ioctl_fionbio(&input, true)?;
        let received = Received {
            bytes: Vec::new(),
            scanned: 0,
            chunk: vec![0; CHUNK],
            mark: format!("#{token} ").into_bytes(),
            texts: Vec::new(),
            missing: 0,
            max_line,
            ended: false,
        };
        Ok(Self { output, unsent: Vec::new(), input, received, waiting: None })
    }

    /// Writes what goes at once; [`Control::next_line`] writes the rest.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        if self.unsent.is_empty() {
            let wrote = rustix::io::write(&self.output, bytes).map_err(io::Error::from);
            match wrote {
                Ok(count) => self.unsent.extend_from_slice(&bytes[count..]),
                Err(error) if is_not_now(&error) => self.unsent.extend_from_slice(bytes),
                // The driver is gone, which the reading side tells.
                Err(_) => {}
            }
            return;
        }
        self.unsent.extend_from_slice(bytes);
        let wrote = rustix::io::write(&self.output, &self.unsent).map_err(io::Error::from);
        sent(&mut self.unsent, wrote);
    }

    /// The texts that came before the last line.
    pub(super) fn take_texts(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.received.texts)
    }

    /// Whether something waits to be written.
    pub(super) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Where lines come from, to be asked whether there is one.
    pub(super) fn source(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// The next line. Cancel safe.
    pub(super) async fn next_line(&mut self) -> Line {
        loop {
            if let Some(line) = self.received.line() {
                return line;
            }
            if self.waiting.is_none() {
                let Ok(waiting) = self.register() else { return Line::Ended };
                self.waiting = Some(waiting);
            }
            let Some(Waiting { output, input }) = &self.waiting else { return Line::Ended };
            tokio::select! {
                _ = input.readable() => {
                    self.received.take_in(|buffer| input.try_read(buffer));
                }
                _ = output.writable(), if !self.unsent.is_empty() => {
                    let wrote = output.try_write(&self.unsent);
                    sent(&mut self.unsent, wrote);
                }
            }
        }
    }

    fn register(&self) -> io::Result<Waiting> {
        let output = Sender::from_owned_fd(self.output.try_clone()?)?;
        let input = Receiver::from_owned_fd(self.input.try_clone()?)?;
        Ok(Waiting { output, input })
    }

    /// Nobody waits for lines any more.
    pub(super) fn rest(&mut self) {
        self.waiting = None;
    }

    /// The next line of those that are there, without waiting.
    pub(super) fn ready_line(&mut self) -> Option<Line> {
        loop {
            if let Some(line) = self.received.line() {
                return Some(line);
            }
            let input = &self.input;
            let read = |buffer: &mut [u8]| rustix::io::read(input, buffer).map_err(io::Error::from);
            if !self.received.take_in(read) {
                return None;
            }
        }
    }
}

/// Forgets what was written; all of it where the driver is gone, which the reading side tells.
fn sent(unsent: &mut Vec<u8>, wrote: io::Result<usize>) {
    match wrote {
        Ok(count) => drop(unsent.drain(..count)),
        Err(error) if is_not_now(&error) => {}
        Err(_) => unsent.clear(),
    }
}

/// What was read and is not a whole line yet.
#[derive(Debug)]
struct Received {
    bytes: Vec<u8>,
    scanned: usize,
    chunk: Vec<u8>,
    /// How the announcement of texts begins.
    mark: Vec<u8>,
    texts: Vec<u8>,
    /// How many bytes of the texts are still to come.
    missing: usize,
    max_line: usize,
    ended: bool,
}

impl Received {
    /// Takes in one read; whether there was something, or the end.
    fn take_in(&mut self, mut read: impl FnMut(&mut [u8]) -> io::Result<usize>) -> bool {
        let is_text = self.missing > 0;
        let had = self.texts.len();
        let read = if is_text {
            self.texts.resize(had + self.missing.min(PIECE), 0);
            read(&mut self.texts[had..])
        } else {
            read(&mut self.chunk)
        };
        let count = *read.as_ref().unwrap_or(&0);
        if is_text {
            self.texts.truncate(had + count);
            self.missing -= count;
        } else {
            self.bytes.extend_from_slice(&self.chunk[..count]);
        }
        match read {
            Ok(count) if count > 0 => {}
            Err(error) if is_not_now(&error) => return false,
            _ => self.ended = true,
        }
        true
    }

    fn line(&mut self) -> Option<Line> {
        while self.missing == 0 {
            let Some(mut line) = self.whole() else { break };
            if !line.starts_with(&self.mark) {
                return Some(Line::Whole(line));
            }
            let size = String::from_utf8(line.split_off(self.mark.len()));
            match size.ok().and_then(|size| size.parse::<usize>().ok()) {
                Some(size) if size <= self.max_line => self.begin_texts(size),
                _ => return Some(Line::TooLong),
            }
        }
        if self.missing == 0 && self.scanned > self.max_line {
            return Some(Line::TooLong);
        }
        self.ended.then_some(Line::Ended)
    }

    /// The next line of what is there.
    fn whole(&mut self) -> Option<Vec<u8>> {
        let Some(at) = self.bytes[self.scanned..].iter().position(|&byte| byte == b'\n') else {
            self.scanned = self.bytes.len();
            return None;
        };
        let rest = self.bytes.split_off(self.scanned + at + 1);
        let mut line = std::mem::replace(&mut self.bytes, rest);
        line.pop();
        self.scanned = 0;
        Some(line)
    }

    /// Reads texts next, the beginning of which may be there.
    fn begin_texts(&mut self, size: usize) {
        let there = size.min(self.bytes.len());
        let rest = self.bytes.split_off(there);
        self.texts = std::mem::replace(&mut self.bytes, rest);
        self.missing = size - there;
        self.texts.reserve_exact(self.missing);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::{Write as _, pipe},
    };

    use super::*;

    fn channel() -> (File, Control) {
        let (_, output) = pipe().unwrap();
        let (input, driver) = pipe().unwrap();
        let control = Control::new(output.into(), input.into(), 1000, "t").unwrap();
        (OwnedFd::from(driver).into(), control)
    }

    /// The next line, and the texts before it.
    fn next(control: &mut Control) -> (String, Vec<u8>) {
        match control.ready_line() {
            Some(Line::Whole(line)) => (String::from_utf8(line).unwrap(), control.take_texts()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn texts_come_as_they_are_wherever_they_are_cut() {
        let all = b"#t 5\na\nb\n#call\n#t 0\nnone\nplain\n#other 5\n";
        for at in 0..all.len() {
            let (mut driver, mut control) = channel();
            driver.write_all(&all[..at]).unwrap();
            let early = control.ready_line();
            driver.write_all(&all[at..]).unwrap();
            let first = match early {
                None => next(&mut control).1,
                Some(_) => control.take_texts(),
            };
            assert_eq!(first, b"a\nb\n#", "cut at {at}");
            let rest = [next(&mut control).0, next(&mut control).0, next(&mut control).0];
            // What is there at once is given one line a call, so none is lost by the early look.
            assert_eq!(rest, ["none", "plain", "#other 5"], "cut at {at}");
        }
    }

    #[test]
    fn a_size_that_is_none_or_too_much_breaks_the_channel() {
        for announced in ["#t 1001\n", "#t x\n", "#t -1\n", "#t 99999999999999999999999\n", "#t \n"]
        {
            let (mut driver, mut control) = channel();
            driver.write_all(announced.as_bytes()).unwrap();
            assert!(matches!(control.ready_line(), Some(Line::TooLong)), "{announced}");
        }
        let (mut driver, mut control) = channel();
        driver.write_all(b"#t 7\nabc").unwrap();
        drop(driver);
        assert!(matches!(control.ready_line(), Some(Line::Ended)));
    }
}
