//! Other names of what is protected, and links to it.

use std::fs;
use std::os::unix::fs::symlink;

use confine::Confinement;

use crate::support::{default_in, directory, host, listing, repository, run};

#[test]
fn no_name_is_linked_into_what_is_protected_and_none_out_of_what_is_read_only() {
    let (top, read) = (directory(), directory());
    repository(top.path());
    fs::write(read.path().join("file"), "old").unwrap();
    let prepared = Confinement::builder(top.path()).readable(read.path()).prepare().unwrap();
    let out = format!("ln {}/file alias && echo new > alias", read.path().display());
    for line in ["echo x > evil && ln -f evil .git/hooks/pre-commit", out.as_str()] {
        assert!(!run(&prepared, line).is_ok(), "`{line}` succeeded");
        host(top.path(), line);
    }
    assert_eq!(fs::read_to_string(read.path().join("file")).unwrap(), "new\n");
}

#[test]
fn another_name_of_a_protected_file_is_protected_too() {
    let top = directory();
    repository(top.path());
    fs::create_dir(top.path().join("elsewhere")).unwrap();
    fs::hard_link(top.path().join(".git/config"), top.path().join("elsewhere/alias")).unwrap();
    let before = fs::read_to_string(top.path().join(".git/config")).unwrap();
    let line = "echo '[alias] st = !true' >> elsewhere/alias";
    assert!(!run(&default_in(top.path()), line).is_ok());
    assert_eq!(fs::read_to_string(top.path().join(".git/config")).unwrap(), before);
    host(top.path(), line);
    assert_ne!(fs::read_to_string(top.path().join(".git/config")).unwrap(), before);
}

#[test]
fn what_a_protected_link_leads_to_is_protected() {
    let top = directory();
    repository(top.path());
    for name in ["scripts", "dotfiles"] {
        fs::create_dir(top.path().join(name)).unwrap();
    }
    fs::write(top.path().join("scripts/check"), "old").unwrap();
    fs::write(top.path().join("dotfiles/envrc"), "old").unwrap();
    symlink("../../link", top.path().join(".git/hooks/pre-commit")).unwrap();
    symlink("scripts/../scripts/check", top.path().join("link")).unwrap();
    symlink(top.path().join("dotfiles/envrc"), top.path().join(".envrc")).unwrap();
    let prepared = default_in(top.path());
    for (name, line) in [
        ("scripts/check", "echo new > .git/hooks/pre-commit"),
        ("scripts/check", "echo new > scripts/check"),
        ("scripts/check", "mv scripts other"),
        ("dotfiles/envrc", "echo new > dotfiles/envrc"),
    ] {
        assert!(!run(&prepared, line).is_ok(), "`{line}` succeeded");
        assert_eq!(fs::read_to_string(top.path().join(name)).unwrap(), "old");
    }
    host(top.path(), "echo new > .git/hooks/pre-commit");
    assert_eq!(fs::read_to_string(top.path().join("scripts/check")).unwrap(), "new\n");
}

#[test]
fn links_that_were_planted_lead_neither_the_search_nor_the_launch_astray() {
    let (top, outside) = (directory(), directory());
    for name in [".git", ".claude", "target", "tmp"] {
        fs::create_dir_all(outside.path().join(name).join("hooks")).unwrap();
    }
    for (name, target) in [
        ("tmp", "/"),
        (".git", outside.path().join(".git").to_str().unwrap()),
        (".claude", outside.path().to_str().unwrap()),
        (".vscode", "loop"),
        ("loop", ".vscode"),
        (".envrc", "../../../../../../../../etc/passwd"),
        (".bashrc", "."),
    ] {
        symlink(target, top.path().join(name)).unwrap();
    }
    let (before, beside) = (listing(outside.path()), listing(top.path()));
    let ran = run(&default_in(top.path()), "true");
    assert!(ran.is_ok(), "{}", ran.stderr);
    assert_eq!((listing(outside.path()), listing(top.path())), (before, beside));
}
