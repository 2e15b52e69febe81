//! Appending to the trail.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{AuditProblem, AuditRecord, record::GENESIS, record::Line, record::hash_of, verify};

/// The trail can't be written. Nothing may run any more.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file can't be opened.
    #[error("audit file {path:?} can't be opened")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Another process writes to it.
    #[error("audit file {path:?} is in use by another process; give each its own file")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// What stands in it is broken, so nothing may be added that looks whole.
    #[error("audit file {path:?} is broken; keep it, and give another file")]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where, and how.
        #[source]
        source: AuditProblem,
    },
    /// A line can't be written.
    #[error("the audit trail can't be written, so nothing is executed any more")]
    Write(#[source] io::Error),
    /// A line could not be written before.
    #[error("the audit trail could not be written before, so nothing is executed any more")]
    Poisoned,
}

/// The trail, open for appending. One process at a time, by a lock on the file; clones append to the
/// same.
#[derive(Debug, Clone)]
pub struct AuditLog {
    writer: Arc<Mutex<Writer>>,
}

#[derive(Debug)]
struct Writer {
    out: Box<dyn Sink>,
    seq: u64,
    prev: String,
    is_poisoned: bool,
}

/// Where lines go.
trait Sink: Write + Send + std::fmt::Debug {}
impl<T: Write + Send + std::fmt::Debug> Sink for T {}

impl AuditLog {
    /// Opens the file, or makes it (mode 0600), checks what stands in it, and goes on from there.
    ///
    /// # Errors
    /// See [`AuditError`]; a file whose chain is broken is not appended to.
    pub fn open(path: &Path) -> Result<Self, AuditError> {
        let fail = |source| AuditError::Open { path: path.to_owned(), source };
        let file = open_private(path).map_err(fail)?;
        if !lock(&file).map_err(fail)? {
            return Err(AuditError::InUse { path: path.to_owned() });
        }
        let reader = BufReader::new(file.try_clone().map_err(fail)?);
        let summary = verify(reader)
            .map_err(|source| AuditError::Broken { path: path.to_owned(), source })?;
        Ok(Self::with_sink(Box::new(file), summary.lines, summary.head))
    }

    /// A trail that goes to any writer, from its beginning: for programs that keep it elsewhere.
    pub fn to_writer(out: impl Write + Send + std::fmt::Debug + 'static) -> Self {
        Self::with_sink(Box::new(out), 0, GENESIS.to_owned())
    }

    fn with_sink(out: Box<dyn Sink>, seq: u64, prev: String) -> Self {
        let writer = Writer { out, seq, prev, is_poisoned: false };
        Self { writer: Arc::new(Mutex::new(writer)) }
    }

    /// Appends one line.
    ///
    /// # Errors
    /// The line can't be written; every later call fails too.
    pub fn append(&self, record: AuditRecord) -> Result<(), AuditError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.is_poisoned {
            return Err(AuditError::Poisoned);
        }
        // Set before and cleared after, so that a panic in between poisons as well.
        writer.is_poisoned = true;
        writer.append(record).map_err(AuditError::Write)?;
        writer.is_poisoned = false;
        Ok(())
    }
}

impl Writer {
    fn append(&mut self, record: AuditRecord) -> io::Result<()> {
        let time = jiff::Timestamp::now().to_string();
        let line = Line { seq: self.seq + 1, time, prev: self.prev.clone(), record };
        let mut text = serde_json::to_string(&line)?;
        let hash = hash_of(&text);
        text.push('\n');
        self.out.write_all(text.as_bytes())?;
        self.out.flush()?;
        (self.seq, self.prev) = (line.seq, hash);
        Ok(())
    }
}

fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(file)
}

/// Takes the lock that ends with the file's last descriptor; `false` where another holds it.
#[cfg(target_os = "linux")]
fn lock(file: &File) -> io::Result<bool> {
    use rustix::{
        fs::{FlockOperation, flock},
        io::Errno,
    };
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn lock(_file: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_no_trail() {
        let error = AuditLog::open(Path::new("/dev/null")).unwrap_err();
        assert!(matches!(error, AuditError::Open { .. }), "{error:?}");
    }
}
