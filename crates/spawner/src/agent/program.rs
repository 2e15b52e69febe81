//! Finding a provider's program on this machine, before anything is started.

use std::{
    ffi::OsString,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// Where programs are looked for if nothing else is said.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Directories that a confined program sees anyway.
const SYSTEM: [&str; 4] = ["/usr", "/bin", "/sbin", "/lib"];

/// A program that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Its path, as it is started.
    pub(super) path: PathBuf,
    /// Whether it has to be made visible.
    pub(super) is_elsewhere: bool,
}

/// Finds a program by its path, or by its name in `PATH`. Relative paths are not looked at: what they
/// mean would depend on where the host stands.
pub(super) fn find(program: &str, path: Option<OsString>) -> Option<Found> {
    if program.contains('/') {
        return Path::new(program).is_absolute().then(|| found(Path::new(program)))?;
    }
    let path = path.filter(|path| !path.is_empty()).unwrap_or_else(|| DEFAULT_PATH.into());
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find_map(|path| found(&path))
}

/// The path of a program.
pub(crate) fn find_program(program: &str, path: Option<OsString>) -> Option<PathBuf> {
    find(program, path).map(|found| found.path)
}

fn found(path: &Path) -> Option<Found> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return None;
    }
    let is_system = |path: &Path| SYSTEM.iter().any(|folder| path.starts_with(folder));
    let real = path.canonicalize().ok()?;
    if is_system(path) && is_system(&real) {
        return Some(Found { path: path.to_owned(), is_elsewhere: false });
    }
    Some(Found { path: real, is_elsewhere: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        let shell = find("sh", None).unwrap();
        assert!(!shell.is_elsewhere && shell.path.is_absolute());
        assert!(find("/bin/sh", None).is_some());
        for absent in ["no-such-program", "./sh", "/etc/passwd", "/usr", ""] {
            assert_eq!(find(absent, None), None, "{absent}");
        }
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("own");
        std::os::unix::fs::symlink("/bin/sh", &link).unwrap();
        assert!(find("own", Some(folder.path().into())).unwrap().is_elsewhere);
    }
}
