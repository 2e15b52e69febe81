//! Repositories that are there: nothing that git would run later can be planted in them.

use std::path::Path;

use confine::Mechanism;

use crate::support::{COMMIT, default_in, directory, host, repository, run, unconfined};

/// An attack on a repository at `REPO`: what is planted, and what the host does afterwards.
/// `MARKER` is a file that only the planted thing makes.
struct Attack {
    plant: &'static str,
    host: &'static str,
}

const ATTACKS: &[Attack] = &[
    Attack {
        plant: "printf '#!/bin/sh\\ntouch MARKER\\n' > REPO/.git/hooks/pre-commit && \
                chmod +x REPO/.git/hooks/pre-commit",
        host: "COMMIT x",
    },
    Attack {
        plant: "printf '[core]\\n\\tfsmonitor = touch MARKER; false\\n' >> REPO/.git/config",
        host: "git status",
    },
    Attack {
        plant: "mkdir -p REPO/evil && printf '#!/bin/sh\\ntouch MARKER\\n' > REPO/evil/pre-commit \
                && chmod +x REPO/evil/pre-commit && \
                printf '[core]\\n\\thooksPath = evil\\n' >> REPO/.git/config",
        host: "COMMIT x",
    },
    Attack { plant: "git -C REPO config alias.st '!touch MARKER'", host: "git st" },
    Attack {
        plant: "echo '* filter=x' > REPO/.gitattributes && \
                printf '[filter \"x\"]\\n\\tclean = touch MARKER; cat\\n' >> REPO/.git/config",
        host: "echo more >> file && git add file",
    },
    Attack {
        plant: "printf '[diff]\\n\\texternal = touch MARKER; true\\n' >> REPO/.git/config",
        host: "echo more >> file && git diff",
    },
    Attack {
        plant: "mv REPO/.git REPO/aside && cp -r REPO/aside REPO/.git && \
                printf '[core]\\n\\tfsmonitor = touch MARKER; false\\n' >> REPO/.git/config",
        host: "git status",
    },
    Attack {
        plant: "cp REPO/.git/config REPO/new && \
                printf '[core]\\n\\tfsmonitor = touch MARKER; false\\n' >> REPO/new && \
                mv REPO/new REPO/.git/config",
        host: "git status",
    },
];

impl Attack {
    /// Fills in where things are.
    fn text(text: &str, repo: &str, marker: &Path) -> String {
        let text = text.replace("REPO", repo).replace("COMMIT", COMMIT);
        text.replace("MARKER", marker.to_str().unwrap())
    }
}

/// Checks that each attack on a repository at `below` works unconfined, and not confined.
fn check(below: &str) {
    for attack in ATTACKS {
        for is_confined in [false, true] {
            let (top, elsewhere) = (directory(), directory());
            let marker = elsewhere.path().join("marker");
            repository(&top.path().join(below));
            let plant = Attack::text(attack.plant, below, &marker);
            if is_confined {
                let ran = run(&default_in(top.path()), &plant);
                assert!(!ran.is_ok(), "`{plant}` succeeded");
            } else {
                host(top.path(), &plant);
            }
            let later = Attack::text(attack.host, below, &marker);
            unconfined(&top.path().join(below), &later);
            assert_eq!(marker.exists(), !is_confined, "`{plant}`, then `{later}`");
        }
    }
}

#[test]
fn nothing_is_planted_in_the_repository() {
    check(".");
}

#[test]
fn nothing_is_planted_in_a_nested_repository() {
    check("vendor/sub");
}

#[test]
fn a_commit_still_works() {
    let top = directory();
    repository(top.path());
    repository(&top.path().join("vendor/sub"));
    let prepared = default_in(top.path());
    for place in [".", "vendor/sub"] {
        let ran =
            run(&prepared, &format!("cd {place} && echo x > new && git add new && {COMMIT} x"));
        assert!(ran.is_ok(), "{place}: {}", ran.stderr);
        assert!(host(&top.path().join(place), "git log --oneline").lines().count() == 2);
        assert_eq!(ran.findings(), []);
    }
    let line = "git checkout --quiet -b other && git rm --quiet new && git stash --quiet && \
                git stash pop --quiet && git gc --quiet --prune=now && git fsck --strict";
    let ran = run(&prepared, line);
    assert!(ran.is_ok(), "{}", ran.stderr);
}

#[test]
fn a_repository_is_known_by_its_shape_and_submodules_by_their_place() {
    let top = directory();
    host(top.path(), "git init --quiet --bare store && mkdir -p .git/modules/sub/hooks");
    host(top.path(), "touch .git/modules/sub/config");
    let prepared = default_in(top.path());
    for path in
        ["store/config", "store/hooks/x", ".git/modules/sub/config", ".git/modules/sub/hooks/x"]
    {
        assert!(!run(&prepared, &format!("echo x >> {path}")).is_ok(), "{path} was written");
    }
}

#[test]
fn what_is_in_force_is_reported_with_what_is_not() {
    let top = directory();
    let said = |prepared: &confine::Prepared| {
        let mut child = prepared.spawn(confine::Command::new("true")).unwrap();
        child.wait().unwrap();
        format!("{:?}", child.report().status(Mechanism::ProtectedNames))
    };
    let text = said(&default_in(top.path()));
    assert!(text.starts_with("Partial") && text.contains("do not exist yet"), "{text}");
    std::os::unix::fs::symlink("elsewhere", top.path().join(".envrc")).unwrap();
    let text = said(&default_in(top.path()));
    assert!(text.contains(".envrc is a symbolic link"), "{text}");
    let read_only = confine::Confinement::builder(top.path()).read_only_workdir();
    assert_eq!(said(&read_only.prepare().unwrap()), "Enforced");
    let none = confine::Confinement::builder(top.path()).protection(confine::Protection::none());
    assert_eq!(said(&none.prepare().unwrap()), "NotRequested");
}

#[test]
fn whoever_requires_protection_gets_no_launch_without_it() {
    let top = directory();
    let required = confine::Confinement::builder(top.path()).require(Mechanism::ProtectedNames);
    let prepared = required.clone().prepare().unwrap();
    assert!(run(&prepared, "true").is_ok());
    std::os::unix::fs::symlink("elsewhere", top.path().join(".envrc")).unwrap();
    let refused = prepared.spawn(confine::Command::new("true")).unwrap_err().to_string();
    assert!(refused.contains(".envrc"), "{refused}");
    let bare = required.without(Mechanism::Namespaces).without(Mechanism::NetworkNamespace);
    assert!(bare.prepare().is_err());
}
