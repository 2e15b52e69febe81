//! Going through the entries of a directory and, where the caller enters them, of those below.
//!
//! Entries come in a stable order: by name (bytes), each directory directly before what is in it.
//! Links are entries and are never followed. There is no recursion and no descriptor kept open: what
//! is still to come is one list of paths, and each directory is opened beneath the root again, by the
//! same lookup as a file.
//!
//! Memory is bounded by `room`: only the first `room` entries in order are kept of what is to come,
//! the others are counted.

use std::{
    collections::BinaryHeap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use tool_core::ExecContext;

use super::{Workdir, beneath::DirReader, error::OpenError, kind::Kind};

/// How many directories deep a walk goes below its start.
const MAX_DEPTH: usize = 64;

/// How many names are read between two looks at whether to stop.
const NAMES_BETWEEN_CHECKS: u64 = 512;

/// One entry.
#[derive(Debug)]
pub(super) struct Found {
    /// Relative to the working directory.
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    /// Its size; for a directory or a link whatever the file system says.
    pub(super) bytes: u64,
    depth: usize,
}

/// What a walk did not give.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct LeftOut {
    /// Entries that were seen and not given.
    pub(super) entries: u64,
    /// Directories that could not be entered, or not to the end: too deep, or no access.
    pub(super) dirs: u64,
}

/// A walk in progress.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    workdir: &'a Workdir,
    ctx: &'a ExecContext,
    /// What is to come, the next one last.
    pending: Vec<Found>,
    room: usize,
    left_out: LeftOut,
}

impl<'a> Walk<'a> {
    /// A walk that starts with the entries of `dir`.
    pub(super) fn start(
        workdir: &'a Workdir,
        ctx: &'a ExecContext,
        dir: &Path,
        room: usize,
    ) -> Result<Self, OpenError> {
        let left_out = LeftOut::default();
        let mut walk = Self { workdir, ctx, pending: Vec::new(), room, left_out };
        let reader = workdir.open_dir(dir)?;
        walk.take_in(dir, 0, reader)?;
        Ok(walk)
    }

    /// The next entry.
    pub(super) fn next(&mut self) -> Option<Found> {
        self.pending.pop()
    }

    /// Says how many more entries are wanted.
    pub(super) fn set_room(&mut self, room: usize) {
        self.room = room;
        self.trim();
    }

    /// Makes the entries of a directory the next ones. One that can't be entered is counted; the only
    /// error is that the call was cancelled.
    pub(super) fn enter(&mut self, dir: &Found) -> Result<(), OpenError> {
        let depth = dir.depth + 1;
        if depth > MAX_DEPTH {
            self.left_out.dirs += 1;
            return Ok(());
        }
        let entered = self
            .workdir
            .open_dir(&dir.path)
            .and_then(|reader| self.take_in(&dir.path, depth, reader));
        match entered {
            Err(OpenError::Cancelled) => Err(OpenError::Cancelled),
            Err(_) => {
                self.left_out.dirs += 1;
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// What was not given, with what is still to come.
    pub(super) fn left_out(&self) -> LeftOut {
        let entries = self.left_out.entries + self.pending.len() as u64;
        LeftOut { entries, dirs: self.left_out.dirs }
    }

    fn take_in(&mut self, dir: &Path, depth: usize, reader: DirReader) -> Result<(), OpenError> {
        let mut reader = reader;
        let names = self.first_names(&mut reader)?;
        for name in names.into_iter().rev() {
            match reader.describe(&name) {
                Ok((kind, bytes)) => {
                    self.pending.push(Found { path: dir.join(name), kind, bytes, depth });
                }
                // It went away since its name was read.
                Err(OpenError::NotFound) => {}
                Err(_) => self.left_out.entries += 1,
            }
        }
        self.trim();
        Ok(())
    }

    /// The first names in order, at most as many as there is room for; the others are counted.
    fn first_names(&mut self, reader: &mut DirReader) -> Result<Vec<OsString>, OpenError> {
        let mut first = BinaryHeap::new();
        for seen in 0_u64.. {
            if seen % NAMES_BETWEEN_CHECKS == 0 && self.ctx.is_cancelled() {
                return Err(OpenError::Cancelled);
            }
            match reader.next_name() {
                None => break,
                Some(Ok(name)) => first.push(name),
                Some(Err(_)) => {
                    self.left_out.dirs += 1;
                    break;
                }
            }
            if first.len() > self.room {
                first.pop();
                self.left_out.entries += 1;
            }
        }
        Ok(first.into_sorted_vec())
    }

    /// Forgets those that come too late to be wanted.
    fn trim(&mut self) {
        let excess = self.pending.len().saturating_sub(self.room);
        self.pending.drain(..excess);
        self.left_out.entries += excess as u64;
    }
}
