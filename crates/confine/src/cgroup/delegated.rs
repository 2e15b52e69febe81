//! Version 2: which group a child's may be made in.
//!
//! A group of version 2 hands controllers down only when it has no process of its own, and the tree
//! belongs to whoever started us unless they gave a part of it away. So, in this order:
//!
//! 1. *Our own group*, where it hands controllers down already.
//! 2. *Our own group, divided*, where it was delegated to us (`Delegate=yes` of systemd, or the group
//!    is this ordinary user's) and holds nobody but this process. It moves into a group of its own below
//!    it, as whoever a group is delegated to is meant to do. Once there, the group above is the place.
//! 3. *The nearest group above* that this ordinary user owns and that hands controllers down, as the
//!    user's systemd has them. A child's groups are then beside ours, so this is left alone where a
//!    group in between has a ceiling: a child would be moved out from under it.
//!
//! Otherwise there is a reason, and no place.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::getxattr;

use super::{Place, Version};

/// The controllers that are used.
const CONTROLLERS: [&str; 3] = ["cpu", "memory", "pids"];

/// Ceilings that keep a child where it is.
const CEILINGS: [&str; 5] = ["memory.max", "memory.high", "memory.swap.max", "pids.max", "cpu.max"];

/// Who asks.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    /// The user.
    pub(super) user: u32,
    /// This process, which may be moved.
    pub(super) process: u32,
    /// The name of the group that it moves into.
    pub(super) name: String,
}

impl Asker {
    /// The place for groups of children, given our own group and the top of what is mounted; otherwise
    /// why there is none.
    pub(super) fn place(&self, own: &Path, top: &Path) -> Result<Place, String> {
        let was_divided = own.file_name().is_some_and(|name| *name == *self.name);
        let group = own.parent().filter(|_| was_divided).unwrap_or(own);
        let handed_down = handed_down(group);
        if !handed_down.is_empty() {
            return Ok(place(group, &handed_down));
        }
        let undivided = match self.divide(own) {
            Ok(handed_down) => return Ok(place(own, &handed_down)),
            Err(why) => why,
        };
        self.above(own, top).map_err(|why| format!("{}: {undivided}; {why}", own.display()))
    }

    /// Divides our own group, if it is ours to divide.
    fn divide(&self, own: &Path) -> Result<Vec<&'static str>, String> {
        if !self.owns(own) && !is_marked_as_delegated(own) {
            return Err("the group is not delegated".to_owned());
        }
        let available = words(&own.join("cgroup.controllers"));
        let wanted: Vec<_> = CONTROLLERS
            .into_iter()
            .filter(|one| available.iter().any(|other| other == one))
            .collect();
        if wanted.is_empty() {
            return Err("no controller reaches the group".to_owned());
        }
        let inside = words(&own.join("cgroup.procs"));
        if inside.iter().any(|pid| *pid != self.process.to_string()) {
            return Err("other processes are in the group, so it can't be divided".to_owned());
        }
        let divided = self.move_out(own).and_then(|()| {
            let line = wanted.iter().map(|one| format!("+{one}")).collect::<Vec<_>>().join(" ");
            fs::write(own.join("cgroup.subtree_control"), line)
        });
        divided.map(|()| wanted).map_err(|error| error.to_string())
    }

    /// Moves this process into a group below its own.
    fn move_out(&self, own: &Path) -> io::Result<()> {
        let leaf = own.join(&self.name);
        match fs::create_dir(&leaf) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            answer => answer?,
        }
        fs::write(leaf.join("cgroup.procs"), self.process.to_string())
    }

    /// The nearest group above ours that may be used.
    fn above(&self, own: &Path, top: &Path) -> Result<Place, String> {
        let mut below = own;
        for group in own.ancestors().skip(1).take_while(|one| one.starts_with(top)) {
            if let Some(ceiling) = ceiling_of(below) {
                return Err(format!("{ceiling} of {} is to hold children too", below.display()));
            }
            let handed_down = handed_down(group);
            if self.owns(group) && !handed_down.is_empty() {
                return Ok(place(group, &handed_down));
            }
            below = group;
        }
        Err("no group above it is this user's".to_owned())
    }

    /// Whether a group is this ordinary user's. Everything is the superuser's, which says nothing.
    fn owns(&self, group: &Path) -> bool {
        let is_owner = |path: &Path| fs::metadata(path).is_ok_and(|it| it.uid() == self.user);
        self.user != 0 && is_owner(group) && is_owner(&group.join("cgroup.procs"))
    }
}

/// A place with some controllers.
fn place(directory: &Path, controllers: &[&str]) -> Place {
    Place {
        version: Version::Two,
        directory: PathBuf::from(directory),
        memory: controllers.contains(&"memory"),
        processes: controllers.contains(&"pids"),
        cpu: controllers.contains(&"cpu"),
    }
}

/// The controllers of interest that a group hands down.
fn handed_down(group: &Path) -> Vec<&'static str> {
    let there = words(&group.join("cgroup.subtree_control"));
    CONTROLLERS.into_iter().filter(|one| there.iter().any(|other| other == one)).collect()
}

/// The words of one of a group's files.
fn words(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// The first ceiling that a group has.
fn ceiling_of(group: &Path) -> Option<&'static str> {
    CEILINGS.into_iter().find(|name| {
        fs::read_to_string(group.join(name)).is_ok_and(|text| !text.starts_with("max"))
    })
}

/// Whether systemd has marked a group as delegated.
fn is_marked_as_delegated(group: &Path) -> bool {
    let mut value = [0; 8];
    ["user.delegate", "trusted.delegate"].into_iter().any(|name| {
        getxattr(group, name, &mut value).is_ok_and(|length| value.get(..length) == Some(b"1"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: u32 = 4711;
    const LEAF: &str = "confine-4711-1-host";

    /// A tree of groups as files, all of which belong to whoever runs this.
    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            tree.group("", "", "");
            tree
        }

        /// Makes a group that hands down some controllers and holds some processes.
        fn group(&self, path: &str, handed_down: &str, processes: &str) -> PathBuf {
            let directory = self.0.path().join(path);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("cgroup.controllers"), "cpu io memory pids\n").unwrap();
            fs::write(directory.join("cgroup.subtree_control"), handed_down).unwrap();
            fs::write(directory.join("cgroup.procs"), processes).unwrap();
            directory
        }

        /// What is found from a group, for the owner of the tree as an ordinary user.
        fn place(&self, own: &Path) -> Result<Place, String> {
            let user = fs::metadata(own).unwrap().uid();
            let asker = Asker { user, process: ME, name: LEAF.to_owned() };
            if user != 0 {
                return asker.place(own, self.0.path());
            }
            give_away(self.0.path());
            Asker { user: 61_500, ..asker }.place(own, self.0.path())
        }
    }

    /// Gives a tree to an ordinary user.
    fn give_away(directory: &Path) {
        std::os::unix::fs::chown(directory, Some(61_500), None).unwrap();
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                give_away(&path);
            } else {
                std::os::unix::fs::chown(&path, Some(61_500), None).unwrap();
            }
        }
    }

    #[test]
    fn a_group_that_hands_controllers_down_is_used_as_it_is() {
        let tree = Tree::new();
        let own = tree.group("own", "memory pids\n", "");
        let found = tree.place(&own).unwrap();
        assert_eq!(
            (found.directory, found.memory, found.processes, found.cpu),
            (own, true, true, false)
        );
    }

    #[test]
    fn a_delegated_group_is_divided_when_nobody_else_is_in_it() {
        let tree = Tree::new();
        let own = tree.group("user/app/run.scope", "", &format!("{ME}\n"));
        let found = tree.place(&own).unwrap();
        assert_eq!((&found.directory, found.memory, found.cpu), (&own, true, true));
        let divided = fs::read_to_string(own.join("cgroup.subtree_control")).unwrap();
        assert_eq!(divided, "+cpu +memory +pids");
        let moved = own.join(LEAF).join("cgroup.procs");
        assert_eq!(fs::read_to_string(moved).unwrap(), ME.to_string());
        fs::write(own.join("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        assert_eq!(tree.place(&own.join(LEAF)), Ok(found), "and found again from there");
    }

    #[test]
    fn with_others_in_the_group_one_above_it_is_used() {
        let tree = Tree::new();
        let slice = tree.group("user/app", "memory pids\n", "");
        let own = tree.group("user/app/shell.scope", "", &format!("{ME}\n1\n"));
        assert_eq!(tree.place(&own).unwrap().directory, slice);
        assert_eq!(fs::read_to_string(own.join("cgroup.subtree_control")).unwrap(), "");
    }

    #[test]
    fn a_ceiling_in_between_is_not_left() {
        let tree = Tree::new();
        tree.group("user/app", "memory pids\n", "");
        let own = tree.group("user/app/shell.scope", "", "1\n");
        fs::write(own.join("memory.max"), "max\n").unwrap();
        fs::write(own.join("pids.max"), "100\n").unwrap();
        let why = tree.place(&own).unwrap_err();
        assert!(why.contains("other processes") && why.contains("pids.max of"), "{why}");
    }

    #[test]
    fn what_belongs_to_another_user_is_left_alone() {
        let tree = Tree::new();
        let own = tree.group("system/login.scope", "", &format!("{ME}\n"));
        let stranger = Asker { user: 61_501, process: ME, name: LEAF.to_owned() };
        let why = stranger.place(&own, tree.0.path()).unwrap_err();
        assert!(why.contains("not delegated") && why.contains("no group above"), "{why}");
        let root = Asker { user: 0, ..stranger };
        assert!(root.place(&own, tree.0.path()).is_err(), "the superuser owns everything");
        assert_eq!(fs::read_to_string(own.join("cgroup.subtree_control")).unwrap(), "");
    }
}
