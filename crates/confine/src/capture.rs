//! What a child writes, kept within a bound while it is read.
//!
//! A stream is drained to its end by a thread of its own, so a child that writes more than anybody
//! keeps is never blocked by us. What is kept is the beginning and the end, half each; every byte is
//! counted. A stream ends when the last process that holds it ends, and all processes of a child end
//! with it, so a capture hangs nobody longer than the child lives.

use std::io::{self, ErrorKind, Read};
use std::thread::{self, JoinHandle};

use crate::{Captured, Collector};

/// A stream that is being drained.
#[derive(Debug)]
pub struct Capture {
    reader: JoinHandle<io::Result<Captured>>,
}

impl Capture {
    /// Begins to drain a stream, and keeps at most `max` bytes of it.
    ///
    /// # Errors
    /// The machine gives no further thread.
    pub fn start(stream: impl Read + Send + 'static, max: usize) -> io::Result<Self> {
        let reader = thread::Builder::new()
            .name("confine-capture".to_owned())
            .spawn(move || read(stream, Collector::new(max)))?;
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

/// Reads a stream to its end.
fn read(mut stream: impl Read, mut collector: Collector) -> io::Result<Captured> {
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return Ok(collector.take()),
            Ok(length) => collector.push(&chunk[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(bytes: &[u8], max: usize) -> Captured {
        Capture::start(io::Cursor::new(bytes.to_vec()), max).unwrap().finish().unwrap()
    }

    #[test]
    fn head_and_tail_are_kept_and_the_rest_is_counted() {
        let all = captured(b"0123456789", 4);
        assert_eq!(all.texts(), ["01", "89"]);
        assert_eq!((all.omitted_bytes(), all.total_bytes()), (6, 10));
        let whole = captured("ä€".as_bytes(), 6);
        assert_eq!((whole.text().to_string(), whole.omitted_bytes()), ("ä€".to_owned(), 0));
        assert_eq!(captured(b"\xff\xfeok", 10).texts(), ["\\xff\\xfeok", ""]);
    }
}
