//! The file system that a child sees.

use std::fs;
use std::os::unix::fs::symlink;

use confine::{Confinement, Mechanism, Outcome, PrepareError, Status};

use crate::support::{check, default_in, run, workdir};

#[test]
fn the_working_directory_is_written_and_the_rest_is_not_there() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    check(&prepared, "echo hello > made && cat made", "hello\n");
    assert_eq!(fs::read_to_string(directory.path().join("made")).unwrap(), "hello\n");
    check(&prepared, "pwd", &format!("{}\n", directory.path().display()));
    check(&prepared, "ls -d /home /root /etc/shadow /run /var /sys 2>/dev/null | wc -l", "0\n");
}

#[test]
fn the_system_can_be_read_and_not_written() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    for path in ["/made", "/usr/made", "/etc/made", "/proc/sys/kernel/hostname", "/dev/made"] {
        let ran = run(&prepared, &format!("echo x > {path}"));
        assert_ne!(ran.outcome, Outcome::Code(0), "{path} was written");
    }
    check(&prepared, "test -x /usr/bin/env && echo yes", "yes\n");
}

#[test]
fn tmp_is_private_and_bounded() {
    let directory = workdir();
    let limits = {
        let mut limits = confine::Limits::default();
        limits.tmp_size = 1 << 20;
        limits
    };
    let prepared = Confinement::builder(directory.path()).limits(limits).prepare().unwrap();
    let on_the_host = tempfile::NamedTempFile::new_in("/tmp").unwrap();
    let look = format!("test -e {} || echo private", on_the_host.path().display());
    check(&prepared, &look, "private\n");
    check(&prepared, "echo x > /tmp/y; cat /tmp/y", "x\n");
    let ran = run(&prepared, "head -c 4000000 /dev/zero > /tmp/large");
    assert!(ran.stderr.contains("No space left"), "{}", ran.stderr);
}

#[test]
fn a_read_only_working_directory_is_read_only() {
    let directory = workdir();
    fs::write(directory.path().join("there"), "old").unwrap();
    let prepared = Confinement::builder(directory.path()).read_only_workdir().prepare().unwrap();
    check(&prepared, "cat there", "old");
    assert_ne!(run(&prepared, "echo new > there").outcome, Outcome::Code(0));
    assert_ne!(run(&prepared, "echo new > other").outcome, Outcome::Code(0));
    assert_eq!(fs::read_to_string(directory.path().join("there")).unwrap(), "old");
}

#[test]
fn guarded_paths_hold_against_writing_removing_and_renaming_their_parents() {
    let directory = workdir();
    let hooks = directory.path().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    fs::write(directory.path().join(".env"), "secret").unwrap();
    let prepared = Confinement::builder(directory.path())
        .protect(".git/hooks")
        .hide(".env")
        .prepare()
        .unwrap();
    assert!(prepared.report().is_enforced(Mechanism::GuardedPaths));
    for line in [
        "echo x > .git/hooks/pre-commit",
        "mv .git elsewhere",
        "mv .git/hooks .git/other",
        "rm -rf .git/hooks",
        "echo x > evil && ln evil .git/hooks/pre-commit",
        "cat .env",
        "echo x > .env",
        "rm -f .env",
        "mv .env other",
    ] {
        assert_ne!(run(&prepared, line).outcome, Outcome::Code(0), "`{line}` succeeded");
    }
    check(&prepared, "echo x > .git/config && cat .git/config", "x\n");
    assert_eq!(fs::read_dir(&hooks).unwrap().count(), 0);
    assert_eq!(fs::read_to_string(directory.path().join(".env")).unwrap(), "secret");
}

#[test]
fn a_guarded_path_that_is_absent_is_reported_and_leaves_nothing() {
    let directory = workdir();
    let prepared = Confinement::builder(directory.path()).hide(".env").prepare().unwrap();
    let status = prepared.report().status(Mechanism::GuardedPaths);
    assert!(matches!(status, Status::Partial { missing } if missing.contains(".env")));
    check(&prepared, "ls -A", "");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_link_in_the_way_of_a_guard_is_refused() {
    let directory = workdir();
    symlink("/", directory.path().join("tmp")).unwrap();
    let asked = Confinement::builder(directory.path()).protect("tmp/etc");
    assert!(matches!(asked.prepare(), Err(PrepareError::Guard { .. })));
}

#[test]
fn a_link_out_of_the_working_directory_leads_nowhere() {
    let directory = workdir();
    let outside = workdir();
    fs::write(outside.path().join("file"), "old").unwrap();
    symlink(outside.path(), directory.path().join("out")).unwrap();
    let prepared = default_in(directory.path());
    assert_ne!(run(&prepared, "echo new > out/file").outcome, Outcome::Code(0));
    assert_ne!(run(&prepared, "cat out/file").outcome, Outcome::Code(0));
    assert_eq!(fs::read_to_string(outside.path().join("file")).unwrap(), "old");
}

#[test]
fn the_whole_file_system_is_never_granted() {
    let directory = workdir();
    let link = directory.path().join("root");
    std::os::unix::fs::symlink("/", &link).unwrap();
    let builder = || Confinement::builder(directory.path());
    for asked in [
        Confinement::builder("/"),
        Confinement::builder(&link),
        Confinement::builder(directory.path().join("root/../..")),
        builder().readable("/"),
        builder().writable(&link),
    ] {
        let error = asked.prepare().unwrap_err().to_string();
        assert!(error.contains("the whole file system"), "{error}");
    }
    let absent = builder().readable("/no/such/path").prepare().unwrap_err().to_string();
    assert!(absent.contains("/no/such/path"), "a path that is not there is not left out: {absent}");
}

#[test]
fn further_paths_are_what_they_were_given_as() {
    let (directory, read, write) = (workdir(), workdir(), workdir());
    fs::write(read.path().join("file"), "data").unwrap();
    let prepared = Confinement::builder(directory.path())
        .readable(read.path())
        .writable(write.path())
        .prepare()
        .unwrap();
    check(&prepared, &format!("cat {}/file", read.path().display()), "data");
    check(&prepared, &format!("echo x > {}/new", write.path().display()), "");
    let line = format!("echo x > {}/file", read.path().display());
    assert_ne!(run(&prepared, &line).outcome, Outcome::Code(0));
}
