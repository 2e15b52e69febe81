//! What an agent writes: secrets removed, kept in a file, read again by offset.
//!
//! Bytes go through a [`Redactor`] into a [`Spill`]; nothing but a bounded rest is held in memory.
//! [`Output`] reads the file, while it grows and after.

mod ansi;
mod hints;
mod patterns;
mod read;
mod redact;
mod spill;

use std::{io, path::Path, time::Instant};

use serde::{Deserialize, Serialize};

pub(crate) use self::spill::Kept;
pub use self::{
    ansi::without_ansi,
    patterns::redacted,
    read::{Output, OutputPiece},
};
use self::{redact::Redactor, spill::Spill};

/// Which of an agent's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    /// Standard output; of a chain, its answer.
    Stdout,
    /// Standard error; of a chain, what it did.
    Stderr,
    /// What has changed in a working tree of its own, at the end.
    Diff,
}

/// Both streams of an agent on their way to its file.
#[derive(Debug)]
pub(crate) struct Capture {
    spill: Spill,
    stdout: Redactor,
    stderr: Redactor,
    /// How many bytes came in, by stream.
    pub(crate) came: (u64, u64),
    /// When the last byte came.
    pub(crate) last: Instant,
    /// Why the file is not whole, where that is so.
    pub(crate) broken: Option<String>,
}

impl Capture {
    pub(crate) fn create(path: &Path, max: u64) -> io::Result<Self> {
        Ok(Self {
            spill: Spill::create(path, max)?,
            stdout: Redactor::default(),
            stderr: Redactor::default(),
            came: (0, 0),
            last: Instant::now(),
            broken: None,
        })
    }

    /// Takes bytes of a stream.
    pub(crate) fn take(&mut self, stream: OutputStream, bytes: &[u8]) {
        self.last = Instant::now();
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let mut keep = keep(&mut self.spill, &mut self.broken, stream);
        match stream {
            OutputStream::Stdout => {
                self.came.0 += count;
                self.stdout.push(bytes, &mut keep);
            }
            OutputStream::Stderr => {
                self.came.1 += count;
                self.stderr.push(bytes, &mut keep);
            }
            OutputStream::Diff => keep(&patterns::clean(bytes)),
        }
    }

    /// The streams pause: lets go of what is held back, but not of a secret that may have begun.
    pub(crate) fn pause(&mut self) {
        self.stdout.pause(&mut keep(&mut self.spill, &mut self.broken, OutputStream::Stdout));
        self.stderr.pause(&mut keep(&mut self.spill, &mut self.broken, OutputStream::Stderr));
    }

    /// Whether a pause would let go of something.
    pub(crate) fn holds_back(&self) -> bool {
        self.stdout.holds_back() || self.stderr.holds_back()
    }

    /// The streams are over: lets go of everything.
    pub(crate) fn end_streams(&mut self) {
        self.stdout.finish(&mut keep(&mut self.spill, &mut self.broken, OutputStream::Stdout));
        self.stderr.finish(&mut keep(&mut self.spill, &mut self.broken, OutputStream::Stderr));
    }

    /// Ends the file.
    pub(crate) fn finish(&mut self) {
        self.end_streams();
        if let Err(error) = self.spill.finish() {
            self.broken.get_or_insert_with(|| error.to_string());
        }
    }

    /// How much the file holds.
    pub(crate) fn kept(&self) -> Kept {
        self.spill.kept()
    }
}

/// Puts what can be shown of a stream into the file.
fn keep<'a>(
    spill: &'a mut Spill,
    broken: &'a mut Option<String>,
    stream: OutputStream,
) -> impl FnMut(&[u8]) + 'a {
    move |bytes| {
        if let Err(error) = spill.write(stream, bytes) {
            broken.get_or_insert_with(|| error.to_string());
        }
    }
}
