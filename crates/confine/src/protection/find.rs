//! What of a directory's content is to be covered, and what can't be.
//!
//! Covered are protected names, the protected parts of every repository, what links among those lead
//! to within the directory, and other names of their files (hard links). Unix sockets are hidden. A
//! symbolic link can't be covered itself.

use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};

use super::{Class, Protection, Repositories};
use crate::inventory::{FileKind, Inventory};

/// How many links are followed from one to the next.
const MOST_LINKS: usize = 16;

/// What was found; paths are relative to the directory.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// To be read-only. None is within another.
    pub(crate) read_only: BTreeSet<PathBuf>,
    /// Sockets, to be hidden.
    pub(crate) hidden: BTreeSet<PathBuf>,
    /// Symbolic links in the place of something protected; they can be replaced.
    pub(crate) links: BTreeSet<PathBuf>,
}

/// Looks through an inventory of the directory at `top`.
pub(crate) fn find(protection: &Protection, inventory: &Inventory, top: &Path) -> Found {
    let mut search = Search { inventory, top, found: Found::default() };
    if !protection.is_on() {
        return search.found;
    }
    // What was granted by its own name is what the caller wants.
    for (path, entry) in inventory.iter().filter(|(path, _)| !path.as_os_str().is_empty()) {
        if entry.kind() == FileKind::Socket {
            search.found.hidden.insert(path.to_owned());
        }
        if protection.ruling(path).is_some_and(|(class, _)| class == Class::Protected) {
            search.found.cover(inventory, path);
        }
    }
    search.repositories(protection);
    search.what_links_lead_to();
    search.found.drop_inner();
    search.other_names();
    search.found
}

/// A search on its way.
struct Search<'a> {
    inventory: &'a Inventory,
    top: &'a Path,
    found: Found,
}

impl Search<'_> {
    /// The parts of repositories, and the files that say where one is.
    fn repositories(&mut self, protection: &Protection) {
        for repository in Repositories::of(self.inventory).iter() {
            for part in Protection::parts() {
                let path = repository.join(part);
                let ruling = protection.ruling_in_repository(&path, part);
                if ruling.is_some_and(|(class, _)| class == Class::Protected) {
                    self.found.cover(self.inventory, &path);
                }
            }
        }
        let pointers = self.inventory.iter().filter(|(path, entry)| {
            entry.kind() != FileKind::Directory
                && path.ends_with(".git")
                && protection.ruling_of_pointer(path).0 == Class::Protected
        });
        pointers.for_each(|(path, _)| self.found.cover(self.inventory, path));
    }

    /// What protected links, and links within protected directories, lead to.
    fn what_links_lead_to(&mut self) {
        let within: Vec<_> = self
            .inventory
            .iter()
            .filter(|(path, entry)| entry.kind() == FileKind::Link && self.found.covers(path))
            .map(|(path, _)| path.to_owned())
            .collect();
        let all: Vec<_> = self.found.links.iter().cloned().chain(within).collect();
        let ends: Vec<_> = all.iter().filter_map(|link| self.end_of(link)).collect();
        self.found.read_only.extend(ends);
    }

    /// Where a link ends within the directory.
    fn end_of(&self, link: &Path) -> Option<PathBuf> {
        let mut path = link.to_owned();
        for _ in 0..MOST_LINKS {
            let Some((at, rest)) = self.first_link(&path) else {
                // The directory itself is never covered.
                let is_there = !path.as_os_str().is_empty() && self.inventory.get(&path).is_some();
                return is_there.then_some(path);
            };
            let target = self.inventory.get(&at)?.target()?;
            let full = match target.strip_prefix(self.top) {
                Ok(below) => below.join(rest),
                Err(_) if target.is_absolute() => return None,
                Err(_) => at.parent()?.join(target).join(rest),
            };
            path = self.plain(&full)?;
        }
        None
    }

    /// The first part of a path that is a link, and what follows it.
    fn first_link(&self, path: &Path) -> Option<(PathBuf, PathBuf)> {
        let mut at = PathBuf::new();
        let mut parts = path.components();
        while let Some(part) = parts.next() {
            at.push(part);
            if self.inventory.get(&at).is_some_and(|entry| entry.kind() == FileKind::Link) {
                return Some((at, parts.as_path().to_owned()));
            }
        }
        None
    }

    /// A path without `.` and `..`, up to the first link on it; nothing where it leads out.
    fn plain(&self, path: &Path) -> Option<PathBuf> {
        let mut plain = PathBuf::new();
        let mut parts = path.components();
        while let Some(part) = parts.next() {
            match part {
                Component::Normal(name) => plain.push(name),
                Component::ParentDir => drop(plain.pop().then_some(())?),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return None,
            }
            if self.inventory.get(&plain).is_some_and(|entry| entry.kind() == FileKind::Link) {
                return Some(plain.join(parts.as_path()));
            }
        }
        Some(plain)
    }

    /// Other names of files that are covered under one.
    fn other_names(&mut self) {
        let linked = || {
            self.inventory
                .iter()
                .filter(|(_, entry)| entry.kind() == FileKind::File && entry.links() > 1)
        };
        let covered = linked().filter(|(path, _)| self.found.covers(path));
        let covered: HashSet<_> = covered.map(|(_, entry)| entry.identity()).collect();
        let others: Vec<_> = linked()
            .filter(|(path, entry)| covered.contains(&entry.identity()) && !self.found.covers(path))
            .map(|(path, _)| path.to_owned())
            .collect();
        self.found.read_only.extend(others);
    }
}

impl Found {
    /// Notes a protected path, if there is something.
    fn cover(&mut self, inventory: &Inventory, path: &Path) {
        match inventory.get(path).map(crate::Entry::kind) {
            None | Some(FileKind::Socket) => {}
            Some(FileKind::Link) => drop(self.links.insert(path.to_owned())),
            Some(_) => drop(self.read_only.insert(path.to_owned())),
        }
    }

    /// Whether a path is covered, itself or by a directory above it.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        path.ancestors().any(|one| self.read_only.contains(one))
    }

    /// Drops what is within something that is covered as a whole.
    fn drop_inner(&mut self) {
        let inner =
            |path: &PathBuf| path.ancestors().skip(1).any(|one| self.read_only.contains(one));
        let outer = self.read_only.iter().filter(|path| !inner(path)).cloned().collect();
        self.read_only = outer;
    }
}
