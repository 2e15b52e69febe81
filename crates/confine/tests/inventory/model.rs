//! Whatever is done to a directory, the difference is the one that a model of it has.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use confine::FileKind;
use proptest::prelude::*;

use crate::{paths, take};

/// Names are few, so that operations meet.
const NAMES: [&str; 9] = ["a", "b", "c", "a/a", "a/b", "b/a", "b/b", "a/a/a", "a/a/b"];

#[derive(Debug, Clone, Copy)]
enum Operation {
    Write(usize),
    MakeDirectory(usize),
    MakeLink(usize),
    Remove(usize),
    Rename(usize, usize),
    HardLink(usize, usize),
    Mode(usize, u32),
}

fn operation() -> impl Strategy<Value = Operation> {
    let name = || 0..NAMES.len();
    prop_oneof![
        3 => name().prop_map(Operation::Write),
        3 => name().prop_map(Operation::MakeDirectory),
        1 => name().prop_map(Operation::MakeLink),
        2 => name().prop_map(Operation::Remove),
        2 => (name(), name()).prop_map(|(from, to)| Operation::Rename(from, to)),
        1 => (name(), name()).prop_map(|(from, to)| Operation::HardLink(from, to)),
        1 => (name(), 0..8u32).prop_map(|(at, others)| Operation::Mode(at, 0o700 | others)),
    ]
}

/// A file of the model, whatever its names are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    number: u64,
    kind: FileKind,
}

/// What a directory should hold.
#[derive(Debug, Clone, Default)]
struct Model {
    names: BTreeMap<PathBuf, Node>,
    /// How often each file was changed.
    versions: BTreeMap<u64, u64>,
    modes: BTreeMap<u64, u32>,
    next: u64,
}

impl Model {
    fn add(&mut self, path: &Path, kind: FileKind) {
        self.next += 1;
        self.names.insert(path.to_owned(), Node { number: self.next, kind });
    }

    /// Notes a change of the file at a path, under all its names.
    fn touch(&mut self, path: &Path) {
        if let Some(node) = self.names.get(path) {
            *self.versions.entry(node.number).or_default() += 1;
        }
    }

    fn remove(&mut self, path: &Path) {
        // A file that is removed with its directory may have another name elsewhere.
        let gone: Vec<_> =
            self.names.keys().filter(|name| name.starts_with(path)).cloned().collect();
        gone.iter().for_each(|name| self.touch(name));
        self.names.retain(|name, _| !name.starts_with(path));
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        if self.is_same(from, to) {
            return;
        }
        self.remove(to);
        self.touch(from);
        let moved = |name: &Path| match name.strip_prefix(from) {
            Ok(rest) if rest.as_os_str().is_empty() => to.to_owned(),
            Ok(rest) => to.join(rest),
            Err(_) => name.to_owned(),
        };
        self.names = self.names.iter().map(|(name, node)| (moved(name), *node)).collect();
    }

    /// Two names of one file: the kernel has nothing to do then.
    fn is_same(&self, one: &Path, other: &Path) -> bool {
        self.names.contains_key(one) && self.names.get(one) == self.names.get(other)
    }

    /// Whether a file is not what another of the same kind was in an earlier state; of directories
    /// only the mode counts.
    fn differs(&self, is: Node, was: Node, earlier: &Self) -> bool {
        if is.kind == FileKind::Directory {
            return self.modes.get(&is.number) != earlier.modes.get(&was.number);
        }
        is != was || self.versions.get(&is.number) != earlier.versions.get(&was.number)
    }

    /// The created, changed and deleted paths.
    fn since(&self, earlier: &Self) -> [Vec<String>; 3] {
        let mut lists = [Vec::new(), Vec::new(), Vec::new()];
        for (path, is) in &self.names {
            let changed = earlier
                .names
                .get(path)
                .is_some_and(|was| is.kind == was.kind && self.differs(*is, *was, earlier));
            let created = earlier.names.get(path).is_none_or(|was| was.kind != is.kind);
            lists[0].extend(created.then(|| path.clone()));
            lists[1].extend(changed.then(|| path.clone()));
        }
        for (path, was) in &earlier.names {
            let deleted = self.names.get(path).is_none_or(|is| is.kind != was.kind);
            lists[2].extend(deleted.then(|| path.clone()));
        }
        lists.map(|mut list| {
            list.sort_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
            list.iter().map(|path| path.to_str().unwrap().to_owned()).collect()
        })
    }
}

/// Does something on the disk and, where the kernel lets it, in the model.
fn apply(top: &Path, model: &mut Model, operation: Operation) {
    let name = |index: usize| Path::new(NAMES[index]);
    let full = |index: usize| top.join(NAMES[index]);
    match operation {
        Operation::Write(at) => {
            let is_new = !model.names.contains_key(name(at));
            let is_link = fs::symlink_metadata(full(at)).is_ok_and(|it| it.is_symlink());
            if !is_link && fs::write(full(at), "content").is_ok() {
                if is_new {
                    model.add(name(at), FileKind::File);
                }
                model.touch(name(at));
            }
        }
        Operation::MakeDirectory(at) if fs::create_dir(full(at)).is_ok() => {
            model.add(name(at), FileKind::Directory);
        }
        Operation::MakeLink(at) if symlink("nowhere", full(at)).is_ok() => {
            model.add(name(at), FileKind::Link);
        }
        Operation::Remove(at) => {
            let removed = fs::remove_file(full(at)).or_else(|_| fs::remove_dir_all(full(at)));
            if removed.is_ok() {
                model.remove(name(at));
            }
        }
        Operation::Rename(from, to) if fs::rename(full(from), full(to)).is_ok() => {
            model.rename(name(from), name(to));
        }
        Operation::HardLink(from, to) if fs::hard_link(full(from), full(to)).is_ok() => {
            model.touch(name(from));
            let node = model.names[name(from)];
            model.names.insert(name(to).to_owned(), node);
        }
        Operation::Mode(at, mode) => {
            let is_link = fs::symlink_metadata(full(at)).is_ok_and(|it| it.is_symlink());
            let mode_is_set =
                !is_link && fs::set_permissions(full(at), Permissions::from_mode(mode)).is_ok();
            if mode_is_set {
                model.touch(name(at));
                let number = model.names[name(at)].number;
                model.modes.insert(number, mode);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_difference_is_the_models(
        first in proptest::collection::vec(operation(), 0..24),
        second in proptest::collection::vec(operation(), 0..24),
    ) {
        let top = tempfile::tempdir().unwrap();
        let mut model = Model::default();
        first.iter().for_each(|one| apply(top.path(), &mut model, *one));
        let (before, earlier) = (take(top.path()), model.clone());
        // Longer than a tick of the kernel's clock.
        thread::sleep(Duration::from_millis(15));
        second.iter().for_each(|one| apply(top.path(), &mut model, *one));
        let changes = take(top.path()).changes_since(&before);
        prop_assert!(changes.complete);
        let found = [&changes.created, &changes.changed, &changes.deleted];
        let found = found.map(|list| paths(list).into_iter().map(str::to_owned).collect::<Vec<_>>());
        prop_assert_eq!(found, model.since(&earlier));
    }
}
