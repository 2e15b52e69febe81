//! Where the system is not Linux: a directory can be named, nothing beneath it is opened.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    path::Path,
};

use super::super::{dir::Resolution, error::OpenError, kind::Kind};

const UNAVAILABLE: OpenError =
    OpenError::Unavailable("reading in a working directory is only offered on Linux");

/// The directory that everything would lie beneath.
#[derive(Debug)]
pub(in crate::workdir) struct Root {
    resolution: Resolution,
}

impl Root {
    pub(in crate::workdir) fn open(path: &Path, by: Option<Resolution>) -> io::Result<Self> {
        if !path.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        Ok(Self { resolution: by.unwrap_or(Resolution::Steps) })
    }

    pub(in crate::workdir) fn resolution(&self) -> Resolution {
        self.resolution
    }

    pub(in crate::workdir) fn open_file(&self, _path: &Path) -> Result<(File, u64), OpenError> {
        Err(UNAVAILABLE)
    }

    pub(in crate::workdir) fn open_dir(&self, _path: &Path) -> Result<DirReader, OpenError> {
        Err(UNAVAILABLE)
    }
}

/// The entries of a directory, of which there are none.
#[derive(Debug)]
pub(in crate::workdir) enum DirReader {}

impl DirReader {
    pub(in crate::workdir) fn next_name(&mut self) -> Option<Result<OsString, OpenError>> {
        match *self {}
    }

    pub(in crate::workdir) fn describe(&self, _name: &OsStr) -> Result<(Kind, u64), OpenError> {
        match *self {}
    }
}
