//! Protection leaves nothing on the host: neither after a run, nor after the host was killed.

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use confine::{Command, Confinement};

use crate::support::{default_in, directory, listing, repository, run};

/// Tells the second run of this test, which plays the host, where to work.
const STAGE: &str = "CONFINE_GHOSTS_STAGE";

/// A directory with some of what is protected, and much of it absent.
fn fill(top: &Path) {
    repository(top);
    repository(&top.join("vendor/sub"));
    fs::remove_dir_all(top.join(".git/hooks")).unwrap();
    fs::create_dir(top.join(".vscode")).unwrap();
    fs::write(top.join(".envrc"), "x").unwrap();
}

/// A confinement that is asked to protect what is not there, too.
fn confinement(top: &Path) -> Confinement {
    [".bashrc", ".mcp.json", ".codex", ".claude/settings.json"]
        .iter()
        .fold(Confinement::builder(top), Confinement::protect)
        .hide(".env")
}

#[test]
fn nothing_is_left_after_a_run() {
    let top = directory();
    fill(top.path());
    let before = listing(top.path());
    assert!(run(&default_in(top.path()), "ls -laR > /dev/null").is_ok());
    assert!(run(&confinement(top.path()).prepare().unwrap(), "ls -laR > /dev/null").is_ok());
    assert_eq!(listing(top.path()), before);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a host of its own is started, to be killed")]
fn nothing_is_left_after_the_host_was_killed() {
    if let Some(stage) = env::var_os(STAGE) {
        return play_host(Path::new(&stage));
    }
    let top = directory();
    fill(top.path());
    let before = listing(top.path());
    for round in 0..6 {
        let mut host = std::process::Command::new(env::current_exe().unwrap())
            .args(["--exact", "ghosts::nothing_is_left_after_the_host_was_killed", "--nocapture"])
            .env(STAGE, top.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(host.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("a child runs")));
        // Some rounds are killed while a child runs, some while the next is launched.
        thread::sleep(Duration::from_millis(7 * round));
        host.kill().unwrap();
        host.wait().unwrap();
        let end = Instant::now() + Duration::from_secs(5);
        while mounts_in(top.path()) && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
        assert!(!mounts_in(top.path()));
        assert_eq!(listing(top.path()), before);
    }
}

/// Starts children until it is killed.
fn play_host(stage: &Path) {
    let prepared = confinement(stage).prepare().unwrap();
    for count in 0.. {
        let line = if count == 0 { "echo a child runs; sleep 0.01" } else { "sleep 0.01" };
        let mut child = prepared.spawn(Command::new("sh").args(["-c", line])).unwrap();
        if let (0, Some(stdout)) = (count, child.take_stdout()) {
            let mut line = String::new();
            BufReader::new(stdout).read_line(&mut line).unwrap();
            io::stdout().write_all(line.as_bytes()).unwrap();
        }
        child.wait().unwrap();
    }
}

/// Whether a mount of this namespace is at the directory or in it.
fn mounts_in(top: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    mounts.lines().any(|line| line.contains(top.to_str().unwrap()))
}
