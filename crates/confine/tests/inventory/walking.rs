//! Where a walk goes, and where it does not.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use confine::{Bounds, FileKind, Gap, Inventory};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::take;

#[test]
fn everything_is_named_with_its_kind_and_no_link_is_followed() {
    let top = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "x").unwrap();
    let at = |name: &str| top.path().join(name);
    fs::create_dir_all(at("a/b")).unwrap();
    fs::write(at("a/b/file"), "four").unwrap();
    fs::hard_link(at("a/b/file"), at("other")).unwrap();
    symlink(outside.path(), at("out")).unwrap();
    mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _listener = UnixListener::bind(at("socket")).unwrap();

    let inventory = take(top.path());
    assert!(inventory.is_complete(), "{:?}", inventory.gaps());
    let all: Vec<_> =
        inventory.iter().map(|(path, entry)| (path.to_str().unwrap(), entry.kind())).collect();
    assert_eq!(
        all,
        [
            ("", FileKind::Directory),
            ("a", FileKind::Directory),
            ("a/b", FileKind::Directory),
            ("a/b/file", FileKind::File),
            ("other", FileKind::File),
            ("out", FileKind::Link),
            ("pipe", FileKind::Fifo),
            ("socket", FileKind::Socket),
        ]
    );
    let file = inventory.get("a/b/file").unwrap();
    assert_eq!((file.size(), file.links(), file.is_executable()), (4, 2, false));
    assert_eq!(inventory.get("out").unwrap().target(), Some(outside.path()));
    assert!(inventory.get("out/secret").is_none());
}

#[test]
fn a_single_file_has_an_inventory_too() {
    let top = tempfile::tempdir().unwrap();
    let file = top.path().join("file");
    fs::write(&file, "x").unwrap();
    let before = take(&file);
    assert_eq!(before.get("").unwrap().kind(), FileKind::File);
    fs::write(&file, "more").unwrap();
    assert_eq!(crate::paths(&take(&file).changes_since(&before).changed), [""]);
    assert!(Inventory::take(top.path().join("none"), &Bounds::default()).is_err());
}

#[test]
fn a_walk_stops_at_its_bounds_and_says_so() {
    let top = tempfile::tempdir().unwrap();
    for name in 0..100 {
        fs::create_dir_all(top.path().join(format!("{name}/deep/er"))).unwrap();
    }
    let bounds = |set: fn(&mut Bounds)| {
        let mut bounds = Bounds::default();
        set(&mut bounds);
        Inventory::take(top.path(), &bounds).unwrap()
    };
    assert!(bounds(|_| {}).is_complete());

    let few = bounds(|bounds| bounds.entries = 150);
    assert_eq!(few.gaps(), [Gap::TooMany]);
    // Level by level: all hundred at the top come before what is below them.
    assert!(few.get("99").is_some() && few.iter().count() <= 152);

    let shallow = bounds(|bounds| bounds.depth = 2);
    assert!(shallow.gaps().iter().all(|gap| matches!(gap, Gap::TooDeep(_))));
    assert!(shallow.get("7/deep").is_some() && shallow.get("7/deep/er").is_none());

    assert_eq!(bounds(|bounds| bounds.time = Duration::ZERO).gaps(), [Gap::TooLong]);
}

#[test]
fn what_nobody_saw_is_neither_created_nor_deleted() {
    let top = tempfile::tempdir().unwrap();
    for name in 0..50 {
        fs::create_dir_all(top.path().join(format!("{name}/inner"))).unwrap();
    }
    let mut bounds = Bounds::default();
    bounds.depth = 1;
    let shallow = Inventory::take(top.path(), &bounds).unwrap();
    for (earlier, later) in [(&shallow, &take(top.path())), (&take(top.path()), &shallow)] {
        let changes = later.changes_since(earlier);
        assert!(changes.is_empty() && !changes.complete, "{changes:?}");
    }
    fs::create_dir_all(top.path().join("new/inner")).unwrap();
    let changes = take(top.path()).changes_since(&shallow);
    assert_eq!(crate::paths(&changes.created), ["new", "new/inner"]);
}

#[test]
fn a_directory_that_is_closed_to_us_is_a_gap() {
    let top = tempfile::tempdir().unwrap();
    let closed = top.path().join("closed");
    fs::create_dir_all(closed.join("inner")).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
    let inventory = take(top.path());
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    if rustix::process::geteuid().is_root() {
        // Nothing is closed to the superuser.
        assert!(inventory.get("closed/inner").is_some());
    } else {
        assert_eq!(inventory.gaps(), [Gap::Unreadable("closed".into())]);
    }
}

#[test]
fn the_object_store_of_a_repository_comes_last() {
    let top = tempfile::tempdir().unwrap();
    let git = top.path().join(".git");
    for name in ["refs/heads", "objects/ab", "hooks"] {
        fs::create_dir_all(git.join(name)).unwrap();
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    for name in 0..200 {
        fs::write(git.join(format!("objects/ab/{name}")), "x").unwrap();
    }
    fs::create_dir_all(top.path().join("a/b/c/d/e")).unwrap();
    let mut bounds = Bounds::default();
    bounds.entries = 100;
    let inventory = Inventory::take(top.path(), &bounds).unwrap();
    assert!(inventory.get("a/b/c/d/e").is_some(), "{:?}", inventory.gaps());
    assert!(inventory.get(".git/objects/ab").unwrap().is_object());
}

#[test]
fn who_swaps_a_directory_for_a_link_leads_the_walk_nowhere() {
    let top = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("canary"), "x").unwrap();
    for name in 0..40 {
        fs::create_dir_all(top.path().join(format!("pad{name}/inner"))).unwrap();
    }
    let (place, aside) = (top.path().join("swapped"), top.path().join("aside"));
    fs::create_dir(&place).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| swap(&place, &aside, outside.path(), &over));
        let end = Instant::now() + Duration::from_millis(400);
        while Instant::now() < end {
            let inventory = take(top.path());
            assert!(inventory.iter().all(|(path, _)| !path.ends_with("canary")));
        }
        over.store(true, Ordering::SeqCst);
    });
}

/// Has a name be a directory and a link by turns.
fn swap(place: &Path, aside: &Path, target: &Path, over: &AtomicBool) {
    while !over.load(Ordering::SeqCst) {
        fs::rename(place, aside).unwrap();
        symlink(target, place).unwrap();
        fs::remove_file(place).unwrap();
        fs::rename(aside, place).unwrap();
    }
}
