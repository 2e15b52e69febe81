//! Files of the host that a session reads under their own paths.
//!
//! They are mounted, so the engine has to be on this machine. A session is never the superuser: what
//! its user may not read is mounted as a copy, which goes with the place.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use super::connect::Engine;
use crate::{BackendError, local::Folder};

/// What is mounted for a session to read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// Those that are mounted as they are.
    pub(super) direct: Vec<PathBuf>,
    /// Copies, where they are mounted, and that they can only be read.
    pub(super) copies: Vec<(PathBuf, PathBuf, bool)>,
    folder: Option<Folder>,
}

impl Reading {
    /// Looks at files for a user and a group, and copies those that these may not read.
    pub(super) fn of(files: &[PathBuf], user: (u32, u32)) -> Result<Self, BackendError> {
        let mut reading = Self::default();
        for path in files {
            let failed = |error: io::Error| {
                BackendError::new(format!("{} can't be read: {error}", path.display()))
            };
            if may_read(path, user).map_err(failed)? {
                reading.direct.push(path.clone());
            } else {
                reading.copy(path).map_err(failed)?;
            }
        }
        Ok(reading)
    }

    fn copy(&mut self, path: &Path) -> io::Result<()> {
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => Folder::private()?,
        };
        let copy = folder.path().join(self.copies.len().to_string());
        self.folder = Some(folder);
        // Only this user can enter the folder; the container sees the file alone.
        let mut to = OpenOptions::new().write(true).create_new(true).mode(0o444).open(&copy)?;
        io::copy(&mut File::open(path)?, &mut to)?;
        self.copies.push((copy, path.to_owned(), true));
        Ok(())
    }

    /// Deletes the copies.
    pub(super) fn remove(&mut self) -> io::Result<()> {
        self.folder.take().map_or(Ok(()), Folder::remove)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        // What is left is deleted by the next program.
        let _ = self.remove();
    }
}

fn may_read(path: &Path, (user, group): (u32, u32)) -> io::Result<bool> {
    let about = fs::metadata(path)?;
    let needed = match about.uid() == user {
        true => 0o400,
        false if about.gid() == group => 0o040,
        false => 0o004,
    };
    Ok(about.mode() & needed != 0)
}

/// Whether an engine can mount files of this machine.
pub(super) fn check(engine: &Engine, files: &[PathBuf]) -> Result<(), BackendError> {
    match files.first() {
        Some(file) if !engine.is_local => Err(BackendError::new(format!(
            "the container engine at {} is on another machine and can't read {}; give the text itself, \
             or put the file into a session with file_put",
            engine.place,
            file.display()
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_the_user_may_not_read_is_copied_and_the_copy_goes() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, mode| {
            let path = folder.path().join(name);
            fs::write(&path, name).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let (open, closed) = (make("open", 0o644), make("closed", 0o600));
        let reading = Reading::of(&[open.clone(), closed.clone()], (u32::MAX - 7, 7)).unwrap();
        assert_eq!(reading.direct, [open]);
        let [(copy, at, read_only)] = &reading.copies[..] else { panic!("{reading:?}") };
        assert_eq!((at, *read_only), (&closed, true));
        assert_eq!(fs::read_to_string(copy).unwrap(), "closed");
        let copy = copy.clone();
        drop(reading);
        assert!(!copy.exists());
        let none = folder.path().join("none");
        let error = Reading::of(&[none], (1, 1)).unwrap_err().to_string();
        assert!(error.contains("none can't be read"), "{error}");
    }
}
