//! The state folder: one file of records that is only appended to, and a lock for each host.
//!
//! `agents.jsonl` holds one record a line; of an agent the last line counts. A line is written in one
//! piece, by hosts side by side. A host that is killed may leave half a line: the next one ends it with
//! a newline, and a line that is no record is skipped. A host holds the lock of `HOST.lock` while it
//! lives, which the kernel lets go of whatever ends it; so a record that is not final and whose host's
//! lock is free is that of a lost agent.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{DirBuilder, File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::{AgentRecord, AgentState};
use crate::AgentId;

const FILE: &str = "agents.jsonl";
/// A line is never this long; a longer one is no record.
const MAX_LINE: u64 = 1 << 20;

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Line<R> {
    host: AgentId,
    #[serde(flatten)]
    record: R,
}

/// The folder, for a host that starts agents.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    host: AgentId,
    file: File,
    /// Held as long as the host lives.
    _lock: File,
    /// Where nobody named a folder.
    _private: Option<TempDir>,
}

impl Store {
    /// Opens the folder, or makes it, and gives what is known of earlier agents. Those whose host is
    /// gone are written down as lost.
    pub(crate) fn open(folder: Option<&Path>) -> io::Result<(Self, Vec<AgentRecord>)> {
        let private =
            if folder.is_some() { None } else { Some(TempDir::with_prefix("remit-agents-")?) };
        let folder = match (&private, folder) {
            (Some(private), _) => private.path().to_owned(),
            (None, folder) => folder.unwrap_or(Path::new(".")).to_owned(),
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let folder = folder.canonicalize()?;
        let host = AgentId::new()?;
        let lock = private_file(&lock_path(&folder, host))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(folder.join(FILE))?;
        end_torn_line(&mut file)?;
        let store = Self { folder, host, file, _lock: lock, _private: private };
        let earlier = store.earlier()?;
        Ok((store, earlier))
    }

    fn earlier(&self) -> io::Result<Vec<AgentRecord>> {
        let (mut earlier, mut gone) = (Vec::new(), BTreeSet::new());
        for (host, record) in read(&self.folder)? {
            let was_live = record.state.is_live();
            let record = if was_live { seen(&self.folder, host, record) } else { record };
            if was_live && record.state == AgentState::Lost {
                self.append(&record)?;
                gone.insert(host);
            }
            earlier.push(record);
        }
        for host in gone {
            // Its absence means the same as a lock that nobody holds.
            let _ = std::fs::remove_file(lock_path(&self.folder, host));
        }
        Ok(earlier)
    }

    /// Writes a record down.
    pub(crate) fn append(&self, record: &AgentRecord) -> io::Result<()> {
        let line = Line { host: self.host, record };
        let mut text = serde_json::to_vec(&line).map_err(io::Error::other)?;
        text.push(b'\n');
        (&self.file).write_all(&text)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(lock_path(&self.folder, self.host));
    }
}

/// The folder, for a person who looks.
#[derive(Debug, Clone)]
pub struct AgentLog {
    folder: PathBuf,
}

impl AgentLog {
    /// The state folder of hosts. Looks at nothing yet.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Every agent of every host, oldest first.
    ///
    /// # Errors
    /// The file is there and can't be read.
    pub fn list(&self) -> io::Result<Vec<AgentRecord>> {
        let all = read(&self.folder)?.into_iter();
        Ok(all.map(|(host, record)| seen(&self.folder, host, record)).collect())
    }

    /// The file that holds an agent's output.
    #[must_use]
    pub fn output_file(&self, id: AgentId) -> PathBuf {
        output_path(&self.folder, id)
    }

    /// Asks an agent's host, which may be another process, to end it.
    ///
    /// # Errors
    /// The request can't be written.
    pub fn request_end(&self, id: AgentId) -> io::Result<()> {
        private_file(&request_path(&self.folder, id)).map(drop)
    }
}

pub(crate) fn output_path(folder: &Path, id: AgentId) -> PathBuf {
    folder.join(format!("{id}.out"))
}

pub(crate) fn request_path(folder: &Path, id: AgentId) -> PathBuf {
    folder.join(format!("{id}.end"))
}

fn lock_path(folder: &Path, host: AgentId) -> PathBuf {
    folder.join(format!("{host}.lock"))
}

fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// A record as it is now: one that is not final and whose host is gone is lost.
fn seen(folder: &Path, host: AgentId, mut record: AgentRecord) -> AgentRecord {
    if record.state.is_live() && !is_alive(folder, host) {
        record.state = AgentState::Lost;
        record.reason = Some("its host ended before it".to_owned());
        record.ended_ms = Some(now_ms());
    }
    record
}

fn is_alive(folder: &Path, host: AgentId) -> bool {
    let Ok(lock) = File::open(lock_path(folder, host)) else { return false };
    flock(&lock, FlockOperation::NonBlockingLockShared).is_err()
}

/// The last record of every agent with its host, oldest agent first.
fn read(folder: &Path) -> io::Result<Vec<(AgentId, AgentRecord)>> {
    let file = match File::open(folder.join(FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let (mut reader, mut all, mut line) = (BufReader::new(file), BTreeMap::new(), Vec::new());
    loop {
        line.clear();
        if reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(all.into_values().collect());
        }
        if let Ok(Line::<AgentRecord> { host, record }) = serde_json::from_slice(&line) {
            all.insert(record.id, (host, record));
        }
    }
}

/// Ends a line that a killed host left without its end.
fn end_torn_line(file: &mut File) -> io::Result<()> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(state: AgentState) -> AgentRecord {
        AgentRecord {
            id: AgentId::new().unwrap(),
            provider: "p".to_owned(),
            fallback_for: None,
            model: None,
            task: "t".to_owned(),
            parent: None,
            depth: 1,
            scope: Vec::new(),
            workdir: "/w".to_owned(),
            state,
            pid: Some(7),
            exit: None,
            reason: None,
            started_ms: 1,
            ended_ms: None,
            timeout_ms: 1,
            max_tokens: None,
            stdout_bytes: 0,
            stderr_bytes: 0,
            kept_bytes: None,
            restarts: 0,
            tokens: None,
            cost_usd: None,
            session: None,
            worktree: None,
        }
    }

    fn states(records: &[AgentRecord]) -> Vec<AgentState> {
        records.iter().map(|record| record.state).collect()
    }

    #[test]
    fn earlier_agents_are_known_and_those_that_ran_are_lost() {
        let folder = tempfile::tempdir().unwrap();
        let (store, earlier) = Store::open(Some(folder.path())).unwrap();
        assert!(earlier.is_empty());
        store.append(&record(AgentState::Exited)).unwrap();
        store.append(&record(AgentState::Running)).unwrap();
        let log = AgentLog::new(folder.path());
        let sorted = |mut states: Vec<AgentState>| {
            states.sort_by_key(|state| state.as_str());
            states
        };
        let now = sorted(states(&log.list().unwrap()));
        assert_eq!(now, [AgentState::Exited, AgentState::Running]);
        // Another host at the same time takes nothing for lost.
        let (other, seen) = Store::open(Some(folder.path())).unwrap();
        assert_eq!(sorted(states(&seen)), [AgentState::Exited, AgentState::Running]);
        drop((store, other));
        let (_store, later) = Store::open(Some(folder.path())).unwrap();
        assert_eq!(sorted(states(&later)), [AgentState::Exited, AgentState::Lost]);
    }

    #[test]
    fn a_line_torn_at_any_byte_costs_that_line_alone() {
        let (first, second, third) =
            (record(AgentState::Exited), record(AgentState::Failed), record(AgentState::Exited));
        let whole = tempfile::tempdir().unwrap();
        let (store, _) = Store::open(Some(whole.path())).unwrap();
        store.append(&first).unwrap();
        let one = std::fs::read(whole.path().join(FILE)).unwrap();
        store.append(&second).unwrap();
        let both = std::fs::read(whole.path().join(FILE)).unwrap();
        for cut in one.len()..both.len() {
            let torn = tempfile::tempdir().unwrap();
            std::fs::write(torn.path().join(FILE), &both[..cut]).unwrap();
            let (store, earlier) = Store::open(Some(torn.path())).unwrap();
            // A line that lacks only its newline is whole.
            let whole = usize::from(cut + 1 == both.len());
            assert_eq!(earlier.len(), 1 + whole, "cut at {cut}");
            store.append(&third).unwrap();
            let after = AgentLog::new(torn.path()).list().unwrap();
            assert_eq!(after.len(), 2 + whole, "cut at {cut}");
            assert!(after.contains(&first) && after.contains(&third));
        }
    }
}
