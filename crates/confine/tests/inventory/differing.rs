//! What tells a changed file from one that was left alone.

use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::thread;
use std::time::Duration;

use confine::{Changes, FileKind};

use crate::{paths, take};

/// Longer than a tick of the kernel's clock.
const TICK: Duration = Duration::from_millis(20);

/// What is different after something was done in a directory that `before` has filled.
fn after(before: fn(&Path), act: fn(&Path)) -> Changes {
    let top = tempfile::tempdir().unwrap();
    before(top.path());
    let earlier = take(top.path());
    thread::sleep(TICK);
    act(top.path());
    take(top.path()).changes_since(&earlier)
}

/// Checks the created, changed and deleted paths.
#[track_caller]
fn check(changes: &Changes, expected: [&[&str]; 3]) {
    let found = [&changes.created, &changes.changed, &changes.deleted].map(|list| paths(list));
    assert_eq!(found, expected.map(<[&str]>::to_vec));
    assert!(changes.complete);
}

fn one_file(top: &Path) {
    fs::write(top.join("file"), "old!").unwrap();
}

#[test]
fn nothing_differs_where_nothing_was_done() {
    let changes = after(one_file, |top| drop(fs::read(top.join("file")).unwrap()));
    assert!(changes.is_empty());
}

#[test]
fn a_file_that_got_its_size_and_times_back_is_changed() {
    let changes = after(one_file, |top| {
        let path = top.join("file");
        let times = fs::metadata(&path).unwrap();
        let times = FileTimes::new()
            .set_modified(times.modified().unwrap())
            .set_accessed(times.accessed().unwrap());
        fs::write(&path, "new!").unwrap();
        File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
    });
    check(&changes, [&[], &["file"], &[]]);
}

#[test]
fn a_file_that_was_put_in_the_place_of_another_is_changed() {
    let changes = after(one_file, |top| {
        fs::write(top.join("next"), "new!").unwrap();
        fs::rename(top.join("next"), top.join("file")).unwrap();
    });
    check(&changes, [&[], &["file"], &[]]);
}

#[test]
fn what_was_renamed_is_deleted_and_created() {
    let changes = after(
        |top| {
            fs::create_dir(top.join("old")).unwrap();
            fs::write(top.join("old/file"), "x").unwrap();
        },
        |top| fs::rename(top.join("old"), top.join("new")).unwrap(),
    );
    check(&changes, [&["new", "new/file"], &[], &["old", "old/file"]]);
}

#[test]
fn another_name_of_a_file_shows_at_both() {
    let changes =
        after(one_file, |top| fs::hard_link(top.join("file"), top.join("alias")).unwrap());
    check(&changes, [&["alias"], &["file"], &[]]);
    assert_eq!((changes.created[0].links, changes.changed[0].links), (2, 2));
}

#[test]
fn a_mode_is_a_change_and_a_directorys_content_is_not_one_of_itself() {
    let changes = after(one_file, |top| {
        fs::set_permissions(top.join("file"), Permissions::from_mode(0o755)).unwrap();
    });
    check(&changes, [&[], &["file"], &[]]);
    let changes = after(
        |top| fs::create_dir(top.join("kept")).unwrap(),
        |top| fs::write(top.join("kept/new"), "12345").unwrap(),
    );
    check(&changes, [&["kept/new"], &[], &[]]);
    assert_eq!(changes.created[0].size, 5);
}

#[test]
fn a_file_that_becomes_a_link_is_deleted_and_created() {
    let changes = after(one_file, |top| {
        fs::remove_file(top.join("file")).unwrap();
        symlink("/etc/passwd", top.join("file")).unwrap();
    });
    check(&changes, [&["file"], &[], &["file"]]);
    assert_eq!(
        (changes.deleted[0].kind, changes.created[0].kind),
        (FileKind::File, FileKind::Link)
    );
}
