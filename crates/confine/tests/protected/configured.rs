//! What an operator adds to the lists, and takes from them.

use std::fs;
use std::time::Duration;

use confine::{Bounds, Command, Confinement, Mechanism, Prepared, Protection, Reason, Status};

use crate::support::{directory, repository, run};

fn with(top: &std::path::Path, protection: Protection) -> Prepared {
    Confinement::builder(top).protection(protection).prepare().unwrap()
}

#[test]
fn names_are_added_and_taken_out() {
    let top = directory();
    for name in ["deploy.sh", "sub/deploy.sh", ".envrc", ".npmrc", "notes.md"] {
        let file = top.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "old").unwrap();
    }
    let protection = Protection::standard()
        .protect("./deploy.sh")
        .and_then(|it| it.report("notes.md"))
        .and_then(|it| it.report(".npmrc"))
        .and_then(|it| it.exempt(".envrc"))
        .unwrap();
    let prepared = with(top.path(), protection);
    assert!(!run(&prepared, "echo x > deploy.sh").is_ok());
    for (name, found) in [
        ("sub/deploy.sh", None),
        ("notes.md", Some(Reason::Reported)),
        (".npmrc", Some(Reason::Reported)),
        (".envrc", None),
    ] {
        let ran = run(&prepared, &format!("echo x > {name}"));
        assert!(ran.is_ok(), "{name}");
        let expected: Vec<_> = found.map(|reason| (name.to_owned(), reason)).into_iter().collect();
        assert_eq!(ran.findings(), expected);
    }
}

#[test]
fn a_part_of_a_repository_or_all_of_it_can_be_taken_out() {
    let top = directory();
    repository(top.path());
    let only = with(top.path(), Protection::standard().exempt(".git/config").unwrap());
    assert!(run(&only, "git config alias.st status").is_ok());
    assert!(!run(&only, "echo x > .git/hooks/pre-commit").is_ok());
    let all = with(top.path(), Protection::standard().exempt(".git").unwrap());
    let ran = run(&all, "echo x > .git/hooks/pre-commit");
    assert!(ran.is_ok() && ran.findings().is_empty(), "{:?}", ran.findings());
    let none = with(top.path(), Protection::none());
    let ran = run(&none, "echo x > .git/hooks/pre-commit");
    assert!(ran.is_ok() && ran.report.is_none());
}

#[test]
fn what_is_beyond_the_bounds_is_told() {
    let top = directory();
    for name in 0..40 {
        fs::create_dir_all(top.path().join(format!("{name}/deep"))).unwrap();
    }
    fs::write(top.path().join(".envrc"), "x").unwrap();
    repository(&top.path().join("0/deep/repository"));
    let mut bounds = Bounds::default();
    bounds.entries = 60;
    bounds.time = Duration::from_secs(30);
    let prepared = Confinement::builder(top.path()).protection_bounds(bounds).prepare().unwrap();
    let mut child = prepared.spawn(Command::new("true")).unwrap();
    child.wait().unwrap();
    let status = child.report().status(Mechanism::ProtectedNames);
    assert!(
        matches!(status, Status::Partial { missing } if missing.contains("too many files")),
        "{status:?}"
    );
    assert!(!child.changes().unwrap().changes.complete);
    assert!(!run(&prepared, "echo x > .envrc").is_ok(), "what is near the top is seen first");
}

#[test]
fn more_than_can_be_covered_is_refused() {
    let top = directory();
    for name in 0..4200 {
        fs::create_dir_all(top.path().join(format!("{name}/.vscode"))).unwrap();
    }
    let prepared = Confinement::builder(top.path()).prepare().unwrap();
    let refused = prepared.spawn(Command::new("true")).unwrap_err().to_string();
    assert!(refused.contains("4200 paths"), "{refused}");
}

#[test]
fn without_namespaces_nothing_is_covered_which_is_told_and_everything_is_found() {
    let top = directory();
    repository(top.path());
    let prepared = Confinement::builder(top.path())
        .without(Mechanism::Namespaces)
        .without(Mechanism::NetworkNamespace)
        .prepare()
        .unwrap();
    let status = prepared.report().status(Mechanism::ProtectedNames);
    assert!(matches!(status, Status::Unavailable { .. }), "{status:?}");
    let ran = run(&prepared, "echo x > .git/hooks/pre-commit && echo x >> .git/config");
    assert!(ran.is_ok(), "{}", ran.stderr);
    assert!(ran.finds(".git/hooks/pre-commit", Reason::Protected), "{:?}", ran.findings());
    assert!(ran.finds(".git/config", Reason::Protected));
}

#[test]
fn what_is_hidden_within_what_was_granted_stays_hidden_or_nothing_starts() {
    let (top, home) = (directory(), directory());
    let secret = home.path().join("share/keyrings/login");
    fs::create_dir_all(secret.parent().unwrap()).unwrap();
    fs::write(&secret, "canary").unwrap();
    let read = format!("cat {}", secret.display());
    for granted in [
        Confinement::builder(top.path()).readable(home.path()),
        Confinement::builder(top.path()).writable(home.path()),
    ] {
        assert!(run(&granted.clone().prepare().unwrap(), &read).stdout.contains("canary"));
        let hidden = granted.hide(home.path().join("share/keyrings"));
        let ran = run(&hidden.clone().prepare().unwrap(), &read);
        assert!(!ran.is_ok() && !ran.stdout.contains("canary"), "{}", ran.stdout);
        let bare = hidden.without(Mechanism::Namespaces).without(Mechanism::NetworkNamespace);
        assert!(bare.prepare().is_err());
    }
}

/// Many files in the way of what matters, and a bound that is far below their number.
fn crowd(top: &std::path::Path) -> Confinement {
    for name in 0..2000 {
        fs::write(top.join(format!("a{name}")), "x").unwrap();
        fs::write(top.join(format!("z{name}")), "x").unwrap();
    }
    let mut bounds = Bounds::default();
    bounds.entries = 100;
    bounds.time = Duration::from_secs(30);
    Confinement::builder(top).protection_bounds(bounds)
}

#[test]
fn a_crowd_of_files_hides_nothing_at_the_top_and_nothing_that_was_found_before() {
    let top = directory();
    repository(top.path());
    repository(&top.path().join("deep/er/repository"));
    fs::write(top.path().join(".envrc"), "x").unwrap();
    fs::create_dir(top.path().join(".claude")).unwrap();
    let mut bounds = Bounds::default();
    bounds.entries = 1000;
    let before = Confinement::builder(top.path()).protection_bounds(bounds).prepare().unwrap();
    assert!(run(&before, "true").is_ok());
    let after = crowd(top.path()).prepare().unwrap();
    for (prepared, name) in [
        (&after, ".git/hooks/pre-commit"),
        (&after, ".git/config"),
        (&after, ".envrc"),
        (&after, ".claude/settings.json"),
        (&before, ".git/config"),
        (&before, "deep/er/repository/.git/config"),
        (&before, "deep/er/repository/.git/hooks/pre-commit"),
    ] {
        assert!(!run(prepared, &format!("echo x >> {name}")).is_ok(), "{name} was written");
    }
}

#[test]
fn a_crowd_of_files_hides_nothing_that_was_made_at_the_top() {
    let top = directory();
    repository(top.path());
    let prepared = crowd(top.path()).prepare().unwrap();
    let line = "mkdir -p .vscode .claude/hooks; echo x > .vscode/tasks.json; echo x > .envrc; \
                echo x > .claude/hooks/run; echo x > .git/commondir; echo x > Makefile";
    let ran = run(&prepared, line);
    assert!(ran.is_ok(), "{}", ran.stderr);
    for name in [".vscode/tasks.json", ".envrc", ".claude/hooks/run", ".git/commondir"] {
        assert!(ran.finds(name, Reason::Protected), "{name}: {:?}", ran.findings());
    }
    assert!(ran.finds("Makefile", Reason::Reported), "{:?}", ran.findings());
    assert!(!ran.report.unwrap().changes.complete);
}
