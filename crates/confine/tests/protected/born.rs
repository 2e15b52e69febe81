//! What could not be protected because it was not there: it can be made, and the report finds it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use confine::{Confinement, Reason};

use crate::support::{default_in, directory, host, listing, repository, run, unconfined};

#[test]
fn a_repository_that_was_born_is_found_and_protected_from_then_on() {
    let top = directory();
    let marker = top.path().join("marker");
    let plant = format!(
        "git init --quiet evil && printf '#!/bin/sh\\ntouch {}\\n' > evil/.git/hooks/post-checkout \
         && chmod +x evil/.git/hooks/post-checkout",
        marker.display()
    );
    let prepared = default_in(top.path());
    let ran = run(&prepared, &plant);
    assert!(ran.is_ok(), "{}", ran.stderr);
    assert!(ran.finds("evil/.git", Reason::Repository), "{:?}", ran.findings());
    assert!(ran.finds("evil/.git/hooks/post-checkout", Reason::Protected), "{:?}", ran.findings());
    assert!(ran.finds("evil/.git/config", Reason::Protected));
    assert!(ran.findings().iter().all(|(path, _)| !path.ends_with(".sample")));
    // It is what it looks like: the host's git runs it.
    let commit = crate::support::COMMIT;
    unconfined(&top.path().join("evil"), &format!("{commit} x && git checkout --quiet -b other"));
    assert!(marker.exists());

    assert!(!run(&prepared, "echo x >> evil/.git/hooks/post-checkout").is_ok());
    assert!(!run(&prepared, "echo x >> evil/.git/config").is_ok());
}

#[test]
fn a_repository_without_its_usual_name_is_found() {
    let top = directory();
    let plant = "mkdir -p data/objects data/refs && echo 'ref: refs/heads/main' > data/HEAD && \
                 printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch ../marker; \
                 false\\n\\tworktree = .\\n' > data/config";
    let ran = run(&default_in(top.path()), plant);
    assert!(ran.finds("data", Reason::Repository), "{:?}", ran.findings());
    assert!(ran.finds("data/config", Reason::Protected));
    unconfined(&top.path().join("data"), "git status");
    assert!(top.path().join("marker").exists(), "the host's git takes it for a repository");
}

#[test]
fn a_repository_that_is_turned_elsewhere_is_found() {
    let top = directory();
    repository(top.path());
    let plant = "cp -r .git evil && printf '[core]\\n\\tfsmonitor = touch marker; false\\n' >> \
                 evil/config && echo ../evil > .git/commondir";
    let ran = run(&default_in(top.path()), plant);
    assert!(ran.is_ok(), "{}", ran.stderr);
    assert!(ran.finds(".git/commondir", Reason::Protected), "{:?}", ran.findings());
    unconfined(top.path(), "git status");
    assert!(top.path().join("marker").exists(), "the host's git obeys it");
}

/// Names that are absent: what is made of them, and how the report lists them.
const NAMES: &[(&str, Reason)] = &[
    (".claude/settings.json", Reason::Protected),
    (".codex/config.toml", Reason::Protected),
    (".vscode/tasks.json", Reason::Protected),
    ("web/.vscode/launch.json", Reason::Protected),
    (".idea/workspace.xml", Reason::Protected),
    (".cursor/mcp.json", Reason::Protected),
    (".gemini/settings.json", Reason::Protected),
    (".mcp.json", Reason::Protected),
    (".envrc", Reason::Protected),
    (".bashrc", Reason::Protected),
    (".zshenv", Reason::Protected),
    (".profile", Reason::Protected),
    (".cargo/config.toml", Reason::Protected),
    (".npmrc", Reason::Protected),
    (".pre-commit-config.yaml", Reason::Protected),
    (".hg/hgrc", Reason::Protected),
    ("Makefile", Reason::Reported),
    ("sub/package.json", Reason::Reported),
    ("AGENTS.md", Reason::Reported),
    ("CLAUDE.md", Reason::Reported),
    (".github/workflows/ci.yml", Reason::Reported),
];

#[test]
fn names_that_are_absent_can_be_made_and_are_found() {
    let top = directory();
    let prepared = default_in(top.path());
    for (name, reason) in NAMES {
        let ran = run(&prepared, &format!("mkdir -p $(dirname {name}) && echo x > {name}"));
        assert!(ran.is_ok(), "{name}: {}", ran.stderr);
        assert_eq!(ran.findings(), [((*name).to_owned(), *reason)]);
    }
    let ran = run(&prepared, "echo x > plain.txt");
    assert_eq!(ran.findings(), []);
    assert_eq!(ran.report.unwrap().changes.created.len(), 1);
}

#[test]
fn what_exists_is_read_only_or_listed_when_it_changes() {
    for (name, reason) in NAMES {
        let top = directory();
        let file = top.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "old").unwrap();
        let ran = run(&default_in(top.path()), &format!("echo new > {name}"));
        assert_eq!(ran.is_ok(), *reason == Reason::Reported, "{name}");
        let written = fs::read_to_string(&file).unwrap() == "new\n";
        assert_eq!(written, *reason == Reason::Reported, "{name}");
        assert_eq!(ran.finds(name, Reason::Reported), written, "{name}: {:?}", ran.findings());
        // The same without confinement.
        host(top.path(), &format!("echo new > {name}"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "new\n");
    }
}

#[test]
fn a_directory_that_is_protected_takes_nothing_new() {
    let top = directory();
    fs::create_dir(top.path().join(".vscode")).unwrap();
    fs::create_dir(top.path().join(".claude")).unwrap();
    let prepared = default_in(top.path());
    for name in [".vscode/tasks.json", ".claude/settings.json", ".claude/hooks/x"] {
        let line = format!("mkdir -p $(dirname {name}) && echo x > {name}");
        assert!(!run(&prepared, &line).is_ok(), "{name}");
        assert!(!run(&prepared, "mv .claude other || mv .vscode other").is_ok());
    }
    host(top.path(), "echo x > .vscode/tasks.json");
}

#[test]
fn executable_files_and_links_that_lead_out_are_found() {
    let top = directory();
    fs::write(top.path().join("script"), "#!/bin/sh\n").unwrap();
    fs::write(top.path().join("tool"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(top.path().join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(top.path().join("sub")).unwrap();
    let line = "chmod +x script; echo x >> tool; cp tool copy; ln -s /etc/passwd absolute; \
                ln -s ../../x sub/up; ln -s ../tool sub/inside; ln -s . dot; \
                ln -s dot/../x sly; ln -s sub/../x plainly; ln -s \"$PWD\"/tool here";
    let ran = run(&default_in(top.path()), line);
    assert!(ran.is_ok(), "{}", ran.stderr);
    let mut expected: Vec<_> = ["absolute", "plainly", "sly", "sub/up"]
        .map(|name| (name.to_owned(), Reason::OutwardLink))
        .into();
    expected.extend(["copy", "script"].map(|name| (name.to_owned(), Reason::Executable)));
    assert_eq!(ran.findings(), expected);
}

#[test]
fn a_report_is_of_every_writable_directory_and_a_summary_has_a_bound() {
    let (top, more, read) = (directory(), directory(), directory());
    let prepared = Confinement::builder(top.path())
        .writable(more.path())
        .readable(read.path())
        .prepare()
        .unwrap();
    fs::write(top.path().join("old"), "x").unwrap();
    let envrc = more.path().join(".envrc").display().to_string();
    let ran = run(
        &prepared,
        &format!("rm old; echo x > {envrc}; for i in $(seq 30); do echo > $i; done"),
    );
    assert!(ran.finds(&envrc, Reason::Protected), "{:?}", ran.findings());
    let report = ran.report.unwrap();
    assert_eq!((report.changes.created.len(), report.changes.deleted.len()), (31, 1));
    assert!(report.changes.complete);
    let told = serde_json::to_value(report.summary(10)).unwrap();
    assert_eq!(told["created"].as_array().unwrap().len(), 10);
    assert_eq!((&told["left_out"], &told["complete"]), (&21.into(), &true.into()));
    assert_eq!(told["deleted"], serde_json::json!([{"path": "old", "size": 1}]));
    let finding = &told["executable_configuration"][0];
    assert_eq!(finding["path"], *envrc);
    assert!(finding["why"].as_str().unwrap().starts_with("protected name: a shell"));
    assert!(told.get("changed").is_none());
}

#[test]
fn where_nothing_is_writable_nothing_is_watched() {
    let top = directory();
    repository(top.path());
    let before = listing(top.path());
    let prepared = Confinement::builder(top.path()).read_only_workdir().prepare().unwrap();
    assert!(run(&prepared, "cat file").report.is_none());
    assert!(prepared.watch().report().is_empty());
    assert_eq!(listing(top.path()), before);
}

#[test]
fn a_watch_tells_of_what_came_after_the_last_report() {
    let top = directory();
    let prepared = default_in(top.path());
    let mut watch = prepared.watch();
    run(&prepared, "echo x > first");
    let paths = |report: confine::ChangeReport| {
        report.changes.created.into_iter().map(|one| one.path).collect::<Vec<_>>()
    };
    assert_eq!(paths(watch.advance()), [std::path::Path::new("first")]);
    run(&prepared, "echo x > second");
    assert_eq!(paths(watch.report()), [std::path::Path::new("second")]);
    assert_eq!(paths(watch.advance()), [std::path::Path::new("second")]);
    assert!(watch.advance().is_empty());
}
