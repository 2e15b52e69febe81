//! What is protected because a host reads or runs it later, and what is told apart when it changes.
//!
//! The lists ([`names`]) are data; a caller adds to them and takes from them. What exists of the
//! protected is found before each launch ([`find`]) and covered. What does not exist can't be covered
//! without leaving something on the host; a change report finds it afterwards.

#[cfg(target_os = "linux")]
mod find;
mod names;
mod pattern;
#[cfg(target_os = "linux")]
mod repository;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(target_os = "linux")]
pub(crate) use self::find::{Found, find};
use self::pattern::Pattern;
pub use self::pattern::PatternError;
#[cfg(target_os = "linux")]
pub(crate) use self::repository::Repositories;

/// What within writable directories is read-only because a host would obey it later, and what a
/// change report lists apart.
///
/// Names are matched letter for letter at the end of a path: `.envrc` in every directory,
/// `.vscode/tasks.json` in every `.vscode`; one that begins with `./` in the top directory alone.
/// There are no wildcards. The caller's names come before the built-in ones; what is exempt is
/// neither protected nor reported.
///
/// ```
/// use confine::Protection;
///
/// let protection = Protection::standard().protect("deploy.sh")?.exempt(".vscode")?;
/// assert!(Protection::standard().protect("*.sh").is_err());
/// # Ok::<(), confine::PatternError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Protection {
    rules: Arc<Rules>,
}

/// What is done about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Read-only where it exists, and listed when it was made.
    Protected,
    /// Writable, and listed when it was made or changed.
    Reported,
    /// Neither.
    Exempt,
}

/// What is said of a path, and why.
pub(crate) type Ruling = (Class, &'static str);

/// Said of what a caller names.
const CONFIGURED: &str = "the operator names it";

/// The lists, put together.
#[derive(Debug, Clone, Default)]
struct Rules {
    is_on: bool,
    /// The caller's patterns.
    own: Vec<(Pattern, Class)>,
    /// The built-in patterns, by their last name.
    listed: HashMap<String, Vec<(Pattern, Ruling)>>,
}

impl Default for Protection {
    fn default() -> Self {
        Self::standard()
    }
}

impl Protection {
    /// The built-in lists; what is recognised as a repository; and unix sockets of the host, which
    /// are hidden.
    #[must_use]
    pub fn standard() -> Self {
        let mut rules = Rules { is_on: true, ..Rules::default() };
        let lists = [(names::PROTECTED, Class::Protected), (names::REPORTED, Class::Reported)];
        for (list, class) in lists {
            for (name, why) in list {
                let pattern = Pattern::of_list(name);
                let place = rules.listed.entry(pattern.last().to_owned()).or_default();
                place.push((pattern, (class, *why)));
            }
        }
        Self { rules: Arc::new(rules) }
    }

    /// Nothing is protected, hidden or looked for.
    #[must_use]
    pub fn none() -> Self {
        Self { rules: Arc::new(Rules::default()) }
    }

    /// Makes a name read-only where it exists.
    ///
    /// # Errors
    /// When it is no name, or another list has it.
    pub fn protect(self, name: &str) -> Result<Self, PatternError> {
        self.add(name, Class::Protected)
    }

    /// Lists a name apart when it is made or changed. It stays writable, also where the built-in
    /// lists protect it.
    ///
    /// # Errors
    /// When it is no name, or another list has it.
    pub fn report(self, name: &str) -> Result<Self, PatternError> {
        self.add(name, Class::Reported)
    }

    /// Neither protects nor lists a name.
    ///
    /// # Errors
    /// When it is no name, or another list has it.
    pub fn exempt(self, name: &str) -> Result<Self, PatternError> {
        self.add(name, Class::Exempt)
    }

    fn add(mut self, name: &str, class: Class) -> Result<Self, PatternError> {
        let pattern = Pattern::parse(name)?;
        if self.rules.own.iter().any(|(there, other)| *there == pattern && *other != class) {
            return Err(PatternError::new(name, "it is in two lists"));
        }
        let rules = Arc::make_mut(&mut self.rules);
        rules.is_on = true;
        rules.own.push((pattern, class));
        Ok(self)
    }

    /// Whether anything is protected or looked for.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_on(&self) -> bool {
        self.rules.is_on
    }

    /// What the caller says of a path, or of the nearest directory above it.
    fn own_ruling(&self, path: &Path) -> Option<Ruling> {
        let own = |path: &Path| {
            let mut own = self.rules.own.iter().filter(|(pattern, _)| pattern.matches(path));
            own.next().map(|(_, class)| (*class, CONFIGURED))
        };
        if self.rules.own.is_empty() { None } else { path.ancestors().find_map(own) }
    }

    /// What is said of a path by its name.
    pub(crate) fn ruling(&self, path: &Path) -> Option<Ruling> {
        self.own_ruling(path).or_else(|| {
            let listed = self.rules.listed.get(path.file_name()?.to_str()?)?;
            listed.iter().find(|(pattern, _)| pattern.matches(path)).map(|(_, ruling)| *ruling)
        })
    }

    /// What is said of a path by its name, or by that of a directory above it.
    #[cfg(target_os = "linux")]
    pub(crate) fn ruling_above(&self, path: &Path) -> Option<Ruling> {
        path.ancestors().find_map(|one| self.ruling(one))
    }

    /// What is said of a part of a repository, named by its path and by its name in the repository.
    #[cfg(target_os = "linux")]
    pub(crate) fn ruling_in_repository(&self, path: &Path, part: &str) -> Option<Ruling> {
        let find = |list: &[names::Row], class| {
            list.iter().find(|(name, _)| *name == part).map(|(_, why)| (class, *why))
        };
        self.own_ruling(path)
            .or_else(|| find(names::REPOSITORY, Class::Protected))
            .or_else(|| find(names::REPOSITORY_REPORTED, Class::Reported))
    }

    /// What is said of a file named `.git`, which says where a repository is.
    #[cfg(target_os = "linux")]
    pub(crate) fn ruling_of_pointer(&self, path: &Path) -> Ruling {
        self.own_ruling(path).unwrap_or((Class::Protected, names::POINTER))
    }

    /// What is looked at in the top directory also where a walk does not get to it.
    #[cfg(target_os = "linux")]
    pub(crate) fn first_looks(&self) -> Vec<PathBuf> {
        let lists = [names::PROTECTED, names::REPORTED];
        let listed = lists.into_iter().flatten().map(|(name, _)| PathBuf::from(name));
        let own = self.rules.own.iter().map(|(pattern, _)| pattern.at_top());
        let git = Path::new(".git");
        let parts = Self::parts().chain(["HEAD"]).map(|part| git.join(part));
        let bare = Self::parts().chain(["HEAD", "objects", "refs"]).map(PathBuf::from);
        listed.chain(own).chain(parts).chain(bare).collect()
    }

    /// The protected parts of a repository.
    #[cfg(target_os = "linux")]
    pub(crate) fn parts() -> impl Iterator<Item = &'static str> {
        names::REPOSITORY.iter().map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_lists_hold_names_that_can_be_matched_each_once() {
        let all =
            [names::PROTECTED, names::REPORTED, names::REPOSITORY, names::REPOSITORY_REPORTED];
        let mut seen = BTreeSet::new();
        for (name, why) in all.into_iter().flatten() {
            assert_eq!(Pattern::parse(name).unwrap(), Pattern::of_list(name));
            assert!(seen.insert(*name), "{name} is listed twice");
            assert!(why.len() > 8, "{name} has no reason");
        }
    }

    #[test]
    fn the_callers_names_come_first() {
        let path = Path::new("a/.vscode");
        let class = |protection: Protection| protection.ruling(path).map(|(class, _)| class);
        let standard = Protection::standard();
        assert_eq!(class(standard.clone()), Some(Class::Protected));
        assert_eq!(class(standard.clone().exempt(".vscode").unwrap()), Some(Class::Exempt));
        assert_eq!(class(standard.clone().report(".vscode").unwrap()), Some(Class::Reported));
        assert_eq!(class(Protection::none().protect(".vscode").unwrap()), Some(Class::Protected));
        assert_eq!(class(Protection::none()), None);
        let twice = standard.protect("x").unwrap();
        assert!(twice.clone().protect("x").is_ok());
        let error = twice.exempt("x").unwrap_err().to_string();
        assert!(error.contains("two lists"), "{error}");
    }
}
