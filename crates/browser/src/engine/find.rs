//! Finding an installed Chromium.
//!
//! Looked for are the programs themselves, not the scripts in front of them: a script reads settings of
//! the machine, and a child sees none. What is looked at is a fixed list of places of the system, never
//! `PATH`, which an ordinary user's directory may be on. An operator can name another program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where distributions put the program.
const PLACES: &[&str] = &[
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/opt/chromium/chrome",
    "/usr/lib/chromium/headless_shell",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
];

/// What is said where none is found.
const HOW_TO_INSTALL: &str = "install one (`apt install chromium`, `dnf install chromium`, \
                              `pacman -S chromium`), or name it as `engine_program`";

/// A Chromium of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The executable, free of symbolic links.
    path: PathBuf,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// Nothing is installed where it is looked for.
    #[error("no Chromium is installed: {HOW_TO_INSTALL}")]
    NotInstalled,
    /// What an operator named is no program.
    #[error("the engine's program {} can't be used: {problem}", path.display())]
    Unusable {
        /// As it was named.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

impl Program {
    /// The installed one.
    ///
    /// # Errors
    /// None is installed.
    pub fn find() -> Result<Self, FindError> {
        let found = PLACES.iter().find_map(|place| usable(Path::new(place)).ok());
        found.map(|path| Self { path }).ok_or(FindError::NotInstalled)
    }

    /// A named one.
    ///
    /// # Errors
    /// It is not there, or no program.
    pub fn at(path: impl AsRef<Path>) -> Result<Self, FindError> {
        let path = path.as_ref();
        let unusable = |problem| FindError::Unusable { path: path.to_owned(), problem };
        if !path.is_absolute() {
            return Err(unusable("an absolute path is accepted".to_owned()));
        }
        usable(path).map(|path| Self { path }).map_err(unusable)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory with its libraries and resources, where a child would not see it anyway.
    pub(super) fn directory_to_show(&self) -> Option<&Path> {
        self.path.parent().filter(|parent| !parent.starts_with("/usr"))
    }
}

/// The real path of an executable file, or what it is instead.
fn usable(path: &Path) -> Result<PathBuf, String> {
    let real = fs::canonicalize(path).map_err(|error| error.to_string())?;
    let facts = fs::metadata(&real).map_err(|error| error.to_string())?;
    if !facts.is_file() {
        return Err("it is no file".to_owned());
    }
    if facts.permissions().mode() & 0o111 == 0 {
        return Err("it is not executable".to_owned());
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(path: &str) -> String {
        Program::at(path).unwrap_err().to_string()
    }

    #[test]
    fn a_named_program_must_be_one() {
        assert!(problem("chromium").contains("an absolute path is accepted"));
        assert!(problem("/no/such/program").contains("No such file"));
        assert!(problem("/etc/passwd").contains("not executable"));
        assert!(problem("/usr").contains("no file"));
        let shell = Program::at("/bin/sh").unwrap();
        assert_eq!(shell.path(), fs::canonicalize("/bin/sh").unwrap());
        assert_eq!(shell.directory_to_show(), None);
    }

    #[test]
    fn what_to_install_is_said() {
        let text = FindError::NotInstalled.to_string();
        assert!(text.contains("apt install chromium") && text.contains("engine_program"), "{text}");
    }
}
