//! What is protected comes and goes by the host's hand, between two runs and during one.

use std::fs;
use std::io::{BufRead, BufReader, Write};

use confine::{Command, Reason, Stream};

use crate::support::{default_in, directory, repository, run};

#[test]
fn what_the_host_deletes_or_replaces_between_two_runs_stops_neither() {
    let top = directory();
    repository(top.path());
    fs::write(top.path().join(".envrc"), "old").unwrap();
    let prepared = default_in(top.path());
    assert!(run(&prepared, "test -e .envrc").is_ok());
    fs::remove_file(top.path().join(".envrc")).unwrap();
    fs::remove_dir_all(top.path().join(".git/hooks")).unwrap();
    assert!(run(&prepared, "test ! -e .envrc").is_ok());
    assert!(!top.path().join(".envrc").exists(), "it was not made again");

    fs::write(top.path().join("next"), "new").unwrap();
    fs::rename(top.path().join("next"), top.path().join(".envrc")).unwrap();
    fs::create_dir(top.path().join(".git/hooks")).unwrap();
    for line in ["echo x > .envrc", "echo x > .git/hooks/pre-commit"] {
        assert!(!run(&prepared, line).is_ok(), "what came back is protected again");
    }
    fs::remove_dir_all(top.path().join(".git")).unwrap();
    fs::write(top.path().join(".git"), "gitdir: /nowhere\n").unwrap();
    assert!(!run(&prepared, "echo x > .git").is_ok());
}

#[test]
fn a_file_that_the_host_replaces_during_a_run_loses_its_cover_and_is_found() {
    let top = directory();
    fs::write(top.path().join(".envrc"), "old").unwrap();
    let prepared = default_in(top.path());
    let line = "echo x > .envrc; echo ready; read go; echo planted > .envrc";
    let mut child =
        prepared.spawn(Command::new("sh").args(["-c", line]).stdin(Stream::Pipe)).unwrap();
    let mut word = String::new();
    BufReader::new(child.take_stdout().unwrap()).read_line(&mut word).unwrap();
    assert_eq!(
        (word.as_str(), fs::read_to_string(top.path().join(".envrc")).unwrap().as_str()),
        ("ready\n", "old")
    );
    // An editor of the host saves the file: a new one takes the place of the old one.
    fs::write(top.path().join("next"), "saved").unwrap();
    fs::rename(top.path().join("next"), top.path().join(".envrc")).unwrap();
    child.take_stdin().unwrap().write_all(b"go\n").unwrap();
    child.wait().unwrap();
    // The kernel takes a mount away with the name that it was on.
    assert_eq!(fs::read_to_string(top.path().join(".envrc")).unwrap(), "planted\n");
    let report = child.changes().unwrap();
    let finding = &report.executable_configuration[0];
    assert_eq!((finding.path.to_str(), finding.reason), (Some(".envrc"), Reason::Protected));
}

#[test]
fn what_was_removed_and_made_again_is_covered_also_in_what_was_built_ahead() {
    let top = directory();
    let (file, hooks) = (top.path().join(".envrc"), top.path().join(".vscode"));
    fs::write(&file, "old").unwrap();
    fs::create_dir(&hooks).unwrap();
    let prepared = default_in(top.path());
    for _ in 0..8 {
        // From the second launch on, the next child is built while this one runs.
        for line in ["echo x > .envrc", "echo x > .vscode/x"] {
            assert!(!run(&prepared, line).is_ok(), "`{line}` succeeded");
        }
        // The new ones may have the numbers of the old ones.
        fs::remove_file(&file).unwrap();
        fs::write(&file, "new").unwrap();
        assert!(!run(&prepared, "echo x > .envrc").is_ok());
        fs::remove_dir(&hooks).unwrap();
        fs::create_dir(&hooks).unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
}

#[test]
fn what_was_made_between_two_runs_is_covered_also_in_what_was_built_ahead() {
    let top = directory();
    let prepared = default_in(top.path());
    for round in 0..4 {
        assert!(run(&prepared, &format!("mkdir -p {round}/.git/hooks")).is_ok());
        assert!(!run(&prepared, &format!("echo x > {round}/.git/hooks/pre-commit")).is_ok());
    }
}
