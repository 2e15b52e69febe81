//! Snapshots of a private working directory: each a file of the host without a name, of what the
//! supervisor packs. They outlive the container, and go with the session.

use std::{
    fs::File,
    io::{self, Seek as _, SeekFrom},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use serde::Deserialize;
use serde_json::json;

use super::{
    place::Held,
    request::{Answered, Pieces, Upload},
};
use crate::{Snapshot, SnapshotError, Snapshots};

/// The most snapshots of a session.
const MAX_SNAPSHOTS: usize = 10;
/// The most files and directories of one.
const MAX_FILES: u64 = 20_000;
/// How much what is packed may have besides its files' bytes, for each file.
const BESIDES: u64 = 64 << 10;

/// The snapshots of one place.
#[derive(Debug)]
pub(super) struct ContainedSnapshots {
    held: Arc<Held>,
    max_bytes: u64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    snapshots: Vec<(Snapshot, File)>,
    /// How many were ever made, so that no id comes twice.
    made: u64,
}

#[derive(Debug, Deserialize)]
struct Packed {
    bytes: u64,
    files: u64,
    left_out: u64,
}

impl ContainedSnapshots {
    /// Snapshots that together hold at most so many bytes.
    pub(super) fn new(held: Arc<Held>, max_bytes: u64) -> Self {
        Self { held, max_bytes, kept: Mutex::default() }
    }

    /// Forgets all of them.
    pub(super) fn clear(&self) {
        self.kept().snapshots.clear();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn checked(&self, what: &'static str, answered: Answered) -> Result<Answered, SnapshotError> {
        match answered.error.as_deref() {
            None => Ok(answered),
            Some("too_large") => {
                Err(SnapshotError::TooLarge { max_bytes: self.max_bytes, max_files: MAX_FILES })
            }
            Some(_) => {
                let source = io::Error::from_raw_os_error(answered.errno.unwrap_or(0));
                Err(SnapshotError::Io { what, source })
            }
        }
    }
}

impl Snapshots for ContainedSnapshots {
    fn create(&self) -> Result<Snapshot, SnapshotError> {
        let what = "the files can't be kept";
        let failed = |source| SnapshotError::Io { what, source };
        let mut kept = self.kept();
        if kept.snapshots.len() >= MAX_SNAPSHOTS {
            return Err(SnapshotError::TooMany { max: MAX_SNAPSHOTS });
        }
        let held: u64 = kept.snapshots.iter().map(|(snapshot, _)| snapshot.bytes).sum();
        let room = self.max_bytes.saturating_sub(held);
        let file = tempfile::tempfile().map_err(failed)?;
        let filed = Pieces::Filed(file.try_clone().map_err(failed)?);
        let request = json!({"op": "pack", "max_bytes": room, "max_files": MAX_FILES});
        let most = room.saturating_add(MAX_FILES * BESIDES);
        let (answered, _) = self.held.ask(request, Upload::None, filed, most).map_err(failed)?;
        let packed = self.checked(what, answered)?.into::<Packed>().map_err(failed)?;
        kept.made += 1;
        let snapshot = Snapshot {
            id: format!("s{}", kept.made),
            files: packed.files,
            bytes: packed.bytes,
            left_out: packed.left_out,
            made: Instant::now(),
        };
        kept.snapshots.push((snapshot.clone(), file));
        Ok(snapshot)
    }

    fn restore(&self, id: &str) -> Result<Snapshot, SnapshotError> {
        let what = "the files can't be put back";
        let failed = |source| SnapshotError::Io { what, source };
        let kept = self.kept();
        let found = kept.snapshots.iter().find(|(snapshot, _)| snapshot.id == id);
        let (snapshot, file) = found.ok_or_else(|| SnapshotError::Unknown { id: id.to_owned() })?;
        let mut file = file.try_clone().map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let (request, nothing) = (json!({"op": "unpack"}), Pieces::Kept(Vec::new()));
        let asked = self.held.ask(request, Upload::File(file), nothing, 0);
        self.checked(what, asked.map_err(failed)?.0)?;
        Ok(snapshot.clone())
    }

    fn list(&self) -> Vec<Snapshot> {
        self.kept().snapshots.iter().map(|(snapshot, _)| snapshot.clone()).collect()
    }

    fn delete(&self, id: &str) -> Result<(), SnapshotError> {
        let mut kept = self.kept();
        let place = kept.snapshots.iter().position(|(snapshot, _)| snapshot.id == id);
        let place = place.ok_or_else(|| SnapshotError::Unknown { id: id.to_owned() })?;
        drop(kept.snapshots.remove(place));
        Ok(())
    }
}
