//! The files of a private working directory, which is in the container's memory.
//!
//! The supervisor puts and gets them. Where it gave the host a descriptor of the directory, what
//! changed is looked at from here, in the time of some system calls; else it is asked.

use std::{path::Path, sync::Arc};

use serde::Deserialize;
use serde_json::json;

use super::{
    place::Held,
    request::{Answered, Pieces, Upload},
};
use crate::{
    ChangedFile, FileChanges, FileError, FilePart, Files,
    local::{ON_THE_WAY, PlainPath},
};

/// What may stand in place of a file.
const KINDS: [&str; 6] =
    ["a directory", "a symbolic link", "a FIFO", "a socket", "a device", ON_THE_WAY];

/// The files of one place.
#[derive(Debug)]
pub(super) struct ContainedFiles {
    held: Arc<Held>,
}

#[derive(Debug, Deserialize)]
struct Size {
    size: u64,
}

#[derive(Debug, Deserialize)]
struct Looked {
    #[serde(default)]
    files: Vec<(String, u64)>,
    #[serde(default)]
    left_out: u64,
    not_listed: Option<String>,
    held: u64,
}

impl ContainedFiles {
    pub(super) fn new(held: Arc<Held>) -> Self {
        Self { held }
    }

    fn path(&self, given: &str) -> Result<(PlainPath, Vec<String>), FileError> {
        let path = PlainPath::new(given, &self.held.wanted().workdir)?;
        let parts = parts(path.as_path());
        Ok((path, parts))
    }
}

fn parts(path: &Path) -> Vec<String> {
    path.iter().map(|part| part.to_string_lossy().into_owned()).collect()
}

fn checked(given: &str, answered: Answered) -> Result<Answered, FileError> {
    let path = given.to_owned();
    let Some(error) = &answered.error else { return Ok(answered) };
    Err(match error.as_str() {
        "not_found" => FileError::NotFound { path },
        "exists" => FileError::Exists { path },
        "kind" => {
            let what = answered.what.as_deref().unwrap_or_default();
            let what = KINDS.into_iter().find(|kind| *kind == what).unwrap_or("something else");
            FileError::Kind { path, what }
        }
        _ => FileError::Io {
            path,
            source: std::io::Error::from_raw_os_error(answered.errno.unwrap_or(0)),
        },
    })
}

impl Files for ContainedFiles {
    fn put(&self, given: &str, content: &[u8], overwrite: bool) -> Result<(), FileError> {
        let (_, parts) = self.path(given)?;
        let request = json!({"op": "put", "path": parts, "overwrite": overwrite});
        let upload = Upload::Bytes(content.to_vec());
        let asked = self.held.ask(request, upload, Pieces::Kept(Vec::new()), 0);
        let (answered, _) =
            asked.map_err(|source| FileError::Io { path: given.to_owned(), source })?;
        checked(given, answered).map(drop)
    }

    fn get(&self, given: &str, offset: u64, limit: usize) -> Result<FilePart, FileError> {
        let (_, parts) = self.path(given)?;
        let failed = |source| FileError::Io { path: given.to_owned(), source };
        let request = json!({"op": "get", "path": parts, "offset": offset, "limit": limit});
        let (room, kept) = (limit as u64, Pieces::Kept(Vec::new()));
        let (answered, pieces) =
            self.held.ask(request, Upload::None, kept, room).map_err(failed)?;
        let Size { size } = checked(given, answered)?.into().map_err(failed)?;
        let bytes = match pieces {
            Pieces::Kept(bytes) => bytes,
            Pieces::Filed(_) => Vec::new(),
        };
        Ok(FilePart { bytes, size })
    }

    fn look(&self) -> FileChanges {
        if let Some(changes) = self.held.watched(|watched| watched.look()) {
            return changes;
        }
        let asked = self.held.ask_simply(json!({"op": "look"}));
        let Ok(looked) = asked.and_then(Answered::into::<Looked>) else {
            return FileChanges::default();
        };
        let files = looked.files.into_iter().map(|(path, size)| ChangedFile { path, size });
        FileChanges {
            files: files.collect(),
            left_out: looked.left_out,
            not_listed: looked.not_listed,
            held_bytes: Some(looked.held),
            ..FileChanges::default()
        }
    }

    fn measure(&self) -> Option<u64> {
        #[derive(Deserialize)]
        struct Measured {
            held: u64,
        }
        if let Some(held) = self.held.watched(|watched| watched.measure()) {
            return held;
        }
        let asked = self.held.ask_simply(json!({"op": "measure"})).ok()?;
        asked.into::<Measured>().ok().map(|measured| measured.held)
    }

    fn is_small(&self) -> bool {
        self.held.watched(|watched| watched.is_small()).unwrap_or(false)
    }
}
