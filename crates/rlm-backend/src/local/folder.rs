//! The working directory of a session: the operator's, or a private one that goes with the session.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// A working directory.
#[derive(Debug)]
pub(super) enum Folder {
    /// The operator's; left alone.
    Given(PathBuf),
    /// The session's own.
    Private(TempDir),
}

impl Folder {
    pub(super) fn given(path: PathBuf) -> Self {
        Self::Given(path)
    }

    /// Makes a directory that only this user can enter.
    pub(super) fn private() -> io::Result<Self> {
        tempfile::Builder::new().prefix("remit-session-").tempdir().map(Self::Private)
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Given(path) => path,
            Self::Private(folder) => folder.path(),
        }
    }

    pub(super) fn is_private(&self) -> bool {
        matches!(self, Self::Private(_))
    }

    /// Deletes a private directory. Nothing of the session may run any more.
    pub(super) fn remove(self) -> io::Result<()> {
        let Self::Private(folder) = self else { return Ok(()) };
        let path = folder.keep();
        fs::remove_dir_all(&path).or_else(|_| {
            open_up(&path)?;
            fs::remove_dir_all(&path)
        })
    }
}

/// Lets us into directories that the session closed. Links are not followed.
fn open_up(folder: &Path) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_folder_goes_also_where_its_session_closed_it() {
        let folder = Folder::private().unwrap();
        let path = folder.path().to_owned();
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::write(path.join("a/b/c"), "x").unwrap();
        fs::set_permissions(path.join("a/b"), Permissions::from_mode(0o000)).unwrap();
        folder.remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn the_operators_folder_is_left_alone() {
        let operators = tempfile::tempdir().unwrap();
        Folder::given(operators.path().to_owned()).remove().unwrap();
        assert!(operators.path().exists());
    }
}
