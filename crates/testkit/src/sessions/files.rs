//! Files of a place that has no directory: a map.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rlm_backend::{ChangedFile, FileChanges, FileError, FilePart, Files};

/// Files by their paths. Clones are the same files.
#[derive(Debug, Clone, Default)]
pub(super) struct FilesInMemory {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    files: BTreeMap<String, Vec<u8>>,
    changed: BTreeSet<String>,
}

impl FilesInMemory {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for FilesInMemory {
    fn put(&self, path: &str, content: &[u8], overwrite: bool) -> Result<(), FileError> {
        if path.split('/').any(|name| name == "..") || path.starts_with('/') {
            return Err(FileError::Path { path: path.to_owned(), why: "it leads elsewhere" });
        }
        let mut inner = self.inner();
        if inner.files.contains_key(path) && !overwrite {
            return Err(FileError::Exists { path: path.to_owned() });
        }
        inner.files.insert(path.to_owned(), content.to_vec());
        inner.changed.insert(path.to_owned());
        Ok(())
    }

    fn get(&self, path: &str, offset: u64, limit: usize) -> Result<FilePart, FileError> {
        let inner = self.inner();
        let file = inner.files.get(path);
        let file = file.ok_or_else(|| FileError::NotFound { path: path.to_owned() })?;
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(file.len());
        let bytes = file[from..].iter().copied().take(limit).collect();
        Ok(FilePart { bytes, size: file.len() as u64 })
    }

    fn look(&self) -> FileChanges {
        let mut inner = self.inner();
        let changed = std::mem::take(&mut inner.changed);
        let size = |path: &str| inner.files.get(path).map_or(0, |file| file.len() as u64);
        let files = changed.into_iter().map(|path| ChangedFile { size: size(&path), path });
        FileChanges { files: files.collect(), ..FileChanges::default() }
    }

    fn is_small(&self) -> bool {
        true
    }
}
