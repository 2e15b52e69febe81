//! Which directories git takes for a repository: by their shape, wherever they are.
//!
//! A directory with `HEAD`, `objects` and `refs` is one, also without the name `.git`; one with
//! `HEAD` and `commondir` is the part of a linked worktree that is its own. A directory named `.git`
//! counts always, and so does what is below its `modules` and holds a configuration or hooks: git uses
//! that for a submodule.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{Class, Protection, Ruling};
use crate::inventory::{FileKind, Inventory};

/// The repositories of an inventory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Repositories {
    paths: HashSet<PathBuf>,
}

impl Repositories {
    /// Looks for them.
    pub(crate) fn of(inventory: &Inventory) -> Self {
        let heads = inventory.iter().filter(|(path, _)| path.ends_with("HEAD"));
        let by_shape = heads.filter_map(|(head, _)| head.parent()).filter(|one| {
            let has = |name| inventory.get(one.join(name)).is_some();
            (has("objects") && has("refs")) || has("commondir")
        });
        let by_name = inventory
            .iter()
            .filter(|(path, entry)| entry.kind() == FileKind::Directory && path.ends_with(".git"));
        let paths = by_shape.chain(by_name.map(|(path, _)| path)).map(Path::to_owned);
        let mut repositories = Self { paths: paths.collect() };
        let modules: Vec<_> = repositories.modules(inventory).map(Path::to_owned).collect();
        repositories.paths.extend(modules);
        repositories
    }

    /// What git would use for a submodule.
    fn modules<'a>(&'a self, inventory: &'a Inventory) -> impl Iterator<Item = &'a Path> {
        let is_module = |path: &&Path| {
            path.ancestors().any(|one| {
                one.ends_with("modules") && one.parent().is_some_and(|above| self.contains(above))
            })
        };
        let parts = inventory.iter().map(|(path, _)| path);
        let telling =
            parts.filter(|path| ["config", "hooks"].iter().any(|name| path.ends_with(name)));
        telling.filter_map(Path::parent).filter(is_module)
    }

    /// Every one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter().map(PathBuf::as_path)
    }

    /// Whether a directory is one.
    pub(crate) fn contains(&self, path: &Path) -> bool {
        self.paths.contains(path)
    }

    /// What is said of a path: as a part of a repository, as what says where one is, by its name, or
    /// by that of a directory above it.
    pub(crate) fn ruling_of(&self, protection: &Protection, path: &Path) -> Option<Ruling> {
        let pointer = || path.ends_with(".git").then(|| protection.ruling_of_pointer(path));
        let by_part = self.ruling(protection, path);
        by_part.or_else(pointer).or_else(|| protection.ruling_above(path))
    }

    /// What is said of a path because of the repository that it is in.
    fn ruling(&self, protection: &Protection, path: &Path) -> Option<Ruling> {
        path.ancestors().find_map(|part| {
            let (above, name) = (part.parent()?, part.file_name()?.to_str()?);
            let ruling = self.contains(above).then(|| protection.ruling_in_repository(part, name));
            ruling.flatten().filter(|(class, _)| *class != Class::Exempt)
        })
    }
}
