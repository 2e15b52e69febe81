//! The text of a path, before anything is opened.

use std::path::{Component, Path, PathBuf};

use super::error::OpenError;

/// The longest path, in bytes: what the kernel takes, its closing NUL included.
const MAX_PATH: usize = 4095;

/// The path that `text` names, if it is one that can be looked up beneath a directory. Whether it
/// stays there is for the lookup to find out.
pub(super) fn checked(text: &str) -> Result<&Path, OpenError> {
    if text.is_empty() {
        return Err(OpenError::Empty);
    }
    if text.len() > MAX_PATH {
        return Err(OpenError::TooLong { bytes: text.len(), max: MAX_PATH });
    }
    if text.contains('\0') {
        return Err(OpenError::Nul);
    }
    let path = Path::new(text);
    let is_rooted = |part: Component<'_>| matches!(part, Component::RootDir | Component::Prefix(_));
    if path.components().any(is_rooted) {
        return Err(OpenError::Absolute);
    }
    Ok(path)
}

/// The same path without `.` and doubled or trailing slashes; empty for the directory itself. `..`
/// stays: what it means depends on links.
pub(super) fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// The path to look up: `.` where it is empty.
pub(super) fn or_dot(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_relative_path_is_refused_by_its_text() {
        assert!(matches!(checked(""), Err(OpenError::Empty)));
        assert!(matches!(checked("/etc/passwd"), Err(OpenError::Absolute)));
        assert!(matches!(checked("//x"), Err(OpenError::Absolute)));
        assert!(matches!(checked("a\0b"), Err(OpenError::Nul)));
        assert!(matches!(checked(&"a/".repeat(2048)), Err(OpenError::TooLong { .. })));
        assert!(checked(&"a".repeat(4095)).is_ok());
        assert!(checked("../x").is_ok(), "links decide where this leads");
    }

    #[test]
    fn tidying_keeps_what_a_path_means() {
        let check = |path: &str, tidied: &str| assert_eq!(tidy(Path::new(path)), Path::new(tidied));
        check(".", "");
        check("./a//b/./c/", "a/b/c");
        check("a/../b", "a/../b");
        assert_eq!(or_dot(&tidy(Path::new("."))), Path::new("."));
    }
}
