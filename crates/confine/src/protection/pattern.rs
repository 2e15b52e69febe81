//! How a name of the lists is matched.
//!
//! A pattern is one or more names, joined by `/`. It matches a path that *ends* with these names,
//! each letter for letter: `.envrc` matches in every directory, `.vscode/tasks.json` matches
//! `web/.vscode/tasks.json`. One that begins with `./` matches in the top directory alone:
//! `./build.sh` does not match `web/build.sh`. What matches and is a directory stands for all that
//! is in it.
//!
//! There are no wildcards. A text that looks like one, or that could not match anything, is refused,
//! never skipped.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Names that a path ends with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Pattern {
    names: Vec<String>,
    /// Whether the path is these names and nothing before.
    is_at_top: bool,
}

/// A text that is no name or path to match.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} can't be matched: {why}")]
pub struct PatternError {
    text: String,
    why: &'static str,
}

impl PatternError {
    /// Says what is wrong with a text.
    pub(super) fn new(text: &str, why: &'static str) -> Self {
        Self { text: text.to_owned(), why }
    }
}

/// Characters that other programs take for wildcards.
const WILD: [char; 8] = ['*', '?', '[', ']', '{', '}', '!', '\\'];

impl Pattern {
    /// Reads a pattern.
    pub(super) fn parse(text: &str) -> Result<Self, PatternError> {
        let refuse = |why| Err(PatternError::new(text, why));
        if text.contains(WILD) {
            return refuse("wildcards are not matched; give a name or a path, letter for letter");
        }
        if text.contains(char::is_control) {
            return refuse("it holds a control character");
        }
        if text.starts_with('/') {
            return refuse("it must be relative: a name, or names joined by `/`");
        }
        let (is_at_top, rest) = match text.strip_prefix("./") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let names: Vec<String> = rest.split('/').map(str::to_owned).collect();
        if names.iter().any(|name| matches!(name.as_str(), "" | "." | "..")) {
            return refuse("each part must be a name: not empty, not `.`, not `..`");
        }
        Ok(Self { names, is_at_top })
    }

    /// A pattern of the lists, which are known to be well-formed.
    pub(super) fn of_list(text: &str) -> Self {
        Self { names: text.split('/').map(str::to_owned).collect(), is_at_top: false }
    }

    /// The last name, by which patterns are found.
    pub(super) fn last(&self) -> &str {
        self.names.last().map_or("", String::as_str)
    }

    /// What it names in the top directory.
    pub(super) fn at_top(&self) -> PathBuf {
        self.names.iter().collect()
    }

    /// Whether a relative path is matched.
    pub(super) fn matches(&self, path: &Path) -> bool {
        let mut parts = path.components().rev();
        let fits = |part: Option<Component<'_>>, name: &String| {
            part.is_some_and(|part| part.as_os_str() == OsStr::new(name))
        };
        let ends_so = self.names.iter().rev().all(|name| fits(parts.next(), name));
        ends_so && (!self.is_at_top || parts.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, expected: bool) {
        let pattern = Pattern::parse(pattern).unwrap();
        assert_eq!(pattern.matches(Path::new(path)), expected, "{pattern:?} on {path}");
    }

    #[test]
    fn names_match_at_the_end_of_a_path_letter_for_letter() {
        check(".envrc", ".envrc", true);
        check(".envrc", "a/b/.envrc", true);
        check(".envrc", "a/.envrc/b", false);
        check(".envrc", "a.envrc", false);
        check(".envrc", ".ENVRC", false);
        check(".vscode/tasks.json", "web/.vscode/tasks.json", true);
        check(".vscode/tasks.json", "tasks.json", false);
        check(".vscode/tasks.json", "x.vscode/tasks.json", false);
        check("./run.sh", "run.sh", true);
        check("./run.sh", "a/run.sh", false);
        check("./a/run.sh", "a/run.sh", true);
        check("./a/run.sh", "b/a/run.sh", false);
        check("a", "", false);
    }

    #[test]
    fn what_can_not_match_is_refused() {
        for text in [
            "",
            ".",
            "..",
            "./",
            "/",
            "/etc/passwd",
            "a//b",
            "a/",
            "a/../b",
            "a/./b",
            "../a",
            "*",
            "*.rs",
            "a?",
            "[a]",
            "{a,b}",
            "!a",
            "a\\b",
            "a\nb",
            "a\0b",
            "~/x/*",
        ] {
            assert!(Pattern::parse(text).is_err(), "{text:?} was accepted");
        }
        let error = Pattern::parse("src/**").unwrap_err().to_string();
        assert!(error.contains("src/**") && error.contains("wildcards"), "{error}");
    }
}
