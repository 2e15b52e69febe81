//! A linked worktree: its `.git` is a file that points to a repository elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use confine::{Confinement, Prepared};

use crate::support::{COMMIT, directory, host, repository, run, unconfined};

/// A repository at `main`, and a worktree of it at `tree`.
fn with_worktree(top: &Path) {
    repository(&top.join("main"));
    host(&top.join("main"), "git worktree add --quiet ../tree");
}

/// A confinement in the worktree, with the main repository's own directory granted.
fn in_worktree(top: &Path) -> Prepared {
    Confinement::builder(top.join("tree")).writable(top.join("main/.git")).prepare().unwrap()
}

#[test]
fn a_commit_works_and_the_main_repository_stays_protected() {
    let top = directory();
    with_worktree(top.path());
    let prepared = in_worktree(top.path());
    let ran = run(&prepared, &format!("echo x > new && git add new && {COMMIT} second"));
    assert!(ran.is_ok(), "{}", ran.stderr);
    assert!(host(&top.path().join("main"), "git log --oneline tree").lines().count() == 2);

    let main = top.path().join("main/.git");
    let main = main.display();
    for line in [
        format!("echo x > {main}/hooks/pre-commit"),
        format!("echo x >> {main}/config"),
        format!("echo x > {main}/info/attributes"),
        format!("mv {main}/hooks {main}/other"),
        format!("echo ../../../../tree/evil > {main}/worktrees/tree/commondir"),
        "echo 'gitdir: evil' > .git".to_owned(),
        "rm -f .git && mkdir .git".to_owned(),
        "git config alias.st '!true'".to_owned(),
    ] {
        // Without confinement each is done, on a copy.
        host(top.path(), "rm -rf copy && mkdir copy && cp -r main tree copy");
        let elsewhere = line.replace(&format!("{main}"), "../main/.git");
        host(&top.path().join("copy/tree"), &elsewhere);
        assert!(!run(&prepared, &line).is_ok(), "`{line}` succeeded");
    }
}

#[test]
fn a_planted_pointer_runs_nothing() {
    for is_confined in [false, true] {
        let top = directory();
        with_worktree(top.path());
        let marker = top.path().join("marker");
        let plant = format!(
            "cp -r {}/main/.git evil && printf '[core]\\n\\tfsmonitor = touch {}; false\\n' >> \
             evil/config && echo 'gitdir: evil' > .git",
            top.path().display(),
            marker.display()
        );
        if is_confined {
            assert!(!run(&in_worktree(top.path()), &plant).is_ok());
        } else {
            host(&top.path().join("tree"), &plant);
        }
        unconfined(&top.path().join("tree"), "git status");
        assert_eq!(marker.exists(), !is_confined);
    }
}

#[test]
fn a_planted_link_is_not_followed_into_a_grant() {
    let (top, secrets) = (directory(), directory());
    with_worktree(top.path());
    fs::write(secrets.path().join("id_rsa"), "canary").unwrap();
    let objects = top.path().join("main/.git/objects");
    fs::rename(&objects, top.path().join("objects")).unwrap();
    symlink(secrets.path(), &objects).unwrap();
    let read = format!("cat {}/id_rsa", objects.display());
    let write = format!("echo x > {}/made", objects.display());
    assert_eq!(host(top.path(), &read), "canary");

    let prepared = in_worktree(top.path());
    for line in [&read, &write, &format!("cat {}/id_rsa", secrets.path().display())] {
        let ran = run(&prepared, line);
        assert!(!ran.is_ok() && !ran.stdout.contains("canary"), "`{line}`");
    }
    assert_eq!(fs::read_dir(secrets.path()).unwrap().count(), 1);
    host(top.path(), &write);
    assert!(secrets.path().join("made").exists());
}
