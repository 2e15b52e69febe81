//! A file that holds a context for as long as a query needs it.
//!
//! On this machine nobody but its owner reaches it: it is alone in a folder that is closed to others.
//! The file itself is open, because in a container its reader is another user than its owner.

use std::{
    fs::{File, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use tempfile::{NamedTempFile, TempDir};

/// A context in a file, which goes with it.
#[derive(Debug)]
pub struct ContextFile {
    file: NamedTempFile,
    // After the file, which is in it.
    _folder: TempDir,
}

impl ContextFile {
    /// An empty one.
    ///
    /// # Errors
    ///
    /// It can't be made.
    pub fn new() -> io::Result<Self> {
        let folder = TempDir::with_prefix("remit-context-")?;
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700))?;
        let file = NamedTempFile::new_in(folder.path())?;
        file.as_file().set_permissions(Permissions::from_mode(0o644))?;
        Ok(Self { file, _folder: folder })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    fn as_file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }
}

impl Write for ContextFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.as_file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.as_file().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_reach_it_by_no_path_and_it_goes_with_its_folder() {
        let mut context = ContextFile::new().unwrap();
        context.write_all(b"text").unwrap();
        let path = context.path().to_owned();
        let folder = path.parent().unwrap().to_owned();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&folder)), (0o644, 0o700));
        assert_eq!(std::fs::read(&path).unwrap(), b"text");
        drop(context);
        assert!(!path.exists() && !folder.exists());
    }
}
