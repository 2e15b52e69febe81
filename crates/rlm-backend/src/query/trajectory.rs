//! A query's steps as a file: one JSON object a line, each written as a whole when it happens.
//!
//! A program that is killed leaves at most one line that is not whole, which reading skips. A file
//! that is there is appended to, so that a query which is resumed keeps what was answered before it.
//! What the file holds is what models and code said, without what the caller's [`Redact`] takes out. It
//! is readable for its owner alone, where it is made here.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use thiserror::Error;

use super::{
    QueryEvent, QueryObserver, QueryRecord,
    redact::{Redact, redacted},
    tree::lock,
};

/// A trajectory that can't be written or read.
#[derive(Debug, Error)]
#[error("the trajectory {path:?} can't be {what}")]
pub struct TrajectoryError {
    path: PathBuf,
    what: &'static str,
    source: io::Error,
}

/// Writes the steps of a query to a file.
#[derive(Debug)]
pub struct Trajectory {
    path: PathBuf,
    redact: Option<Arc<dyn Redact>>,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    /// The first error; nothing is written after it.
    failed: Option<io::Error>,
}

impl Trajectory {
    /// Opens a file, which is made where there is none and appended to where there is one.
    ///
    /// # Errors
    ///
    /// It can't be opened.
    pub fn open(path: &Path) -> Result<Self, TrajectoryError> {
        let error = |source| TrajectoryError { path: path.to_owned(), what: "written", source };
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(error)?;
        // A line that a killed program left unfinished must not spoil the next one.
        if !ends_with_line(path).map_err(error)? {
            file.write_all(b"\n").map_err(error)?;
        }
        let inner = Mutex::new(Inner { file, failed: None });
        Ok(Self { path: path.to_owned(), redact: None, inner })
    }

    /// Takes secrets out of every step before it is written.
    #[must_use]
    pub fn redacting(self, redact: Arc<dyn Redact>) -> Self {
        Self { redact: Some(redact), ..self }
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// Something could not be written.
    pub fn finish(&self) -> Result<(), TrajectoryError> {
        let mut inner = lock(&self.inner);
        let ended = match inner.failed.take() {
            Some(error) => Err(error),
            None => inner.file.sync_all(),
        };
        ended.map_err(|source| TrajectoryError { path: self.path.clone(), what: "written", source })
    }
}

impl QueryObserver for Trajectory {
    fn observe(&self, record: &QueryRecord) {
        if matches!(record.event, QueryEvent::Asking { .. }) {
            return;
        }
        let mut inner = lock(&self.inner);
        if inner.failed.is_some() {
            return;
        }
        let line = match &self.redact {
            Some(by) => redacted(record, &**by).and_then(|step| serde_json::to_vec(&step)),
            None => serde_json::to_vec(record),
        };
        let written = line.map_err(io::Error::other).and_then(|mut line| {
            line.push(b'\n');
            inner.file.write_all(&line)
        });
        inner.failed = written.err();
    }
}

fn ends_with_line(path: &Path) -> io::Result<bool> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// The steps that a file holds, in order; lines that are none are skipped.
///
/// # Errors
///
/// It can't be read.
pub fn read_trajectory(path: &Path) -> Result<Vec<QueryRecord>, TrajectoryError> {
    let error = |source| TrajectoryError { path: path.to_owned(), what: "read", source };
    let mut reader = BufReader::new(File::open(path).map_err(error)?);
    let (mut records, mut line) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(error)? == 0 {
            return Ok(records);
        }
        records.extend(serde_json::from_slice::<QueryRecord>(&line).ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> QueryRecord {
        let event = QueryEvent::Note { query: 0, turn: 1, text: text.to_owned() };
        QueryRecord { at_ms: 1.5, event }
    }

    #[test]
    fn what_is_written_is_read_also_after_a_torn_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let written = Trajectory::open(&path).unwrap();
        written.observe(&note("one\n\"two\" \u{2028}"));
        written.observe(&QueryRecord { at_ms: 2.0, event: QueryEvent::Asking { query: 0 } });
        written.finish().unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [whole.as_slice(), br#"{"at_ms":3,"event":"no"#].concat()).unwrap();
        let again = Trajectory::open(&path).unwrap();
        again.observe(&note("three"));
        again.finish().unwrap();
        let read = read_trajectory(&path).unwrap();
        assert_eq!(read, [note("one\n\"two\" \u{2028}"), note("three")]);
    }

    #[test]
    fn a_full_disk_is_told_at_the_end() {
        let Ok(full) = Trajectory::open(Path::new("/dev/full")) else { return };
        full.observe(&note("x"));
        assert!(full.finish().unwrap_err().to_string().contains("/dev/full"));
    }
}
