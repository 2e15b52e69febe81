//! A directory with a repository in it, shells with and without confinement, and the host's git.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Output;

use confine::{ChangeReport, Command, Confinement, Outcome, Prepared, Reason};
use tempfile::TempDir;

/// What a confined shell did.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) report: Option<ChangeReport>,
}

impl Ran {
    /// Whether it ended well.
    pub(crate) fn is_ok(&self) -> bool {
        self.outcome == Outcome::Code(0)
    }

    /// The paths that the report lists as executable configuration, with the reason.
    pub(crate) fn findings(&self) -> Vec<(String, Reason)> {
        let findings = &self.report.as_ref().unwrap().executable_configuration;
        findings.iter().map(|one| (one.path.to_str().unwrap().to_owned(), one.reason)).collect()
    }

    /// Whether the report lists a path for a reason.
    pub(crate) fn finds(&self, path: &str, reason: Reason) -> bool {
        self.findings().contains(&(path.to_owned(), reason))
    }
}

/// Runs `sh -c LINE` confined.
pub(crate) fn run(prepared: &Prepared, line: &str) -> Ran {
    let mut child = prepared.spawn(Command::new("sh").args(["-c", line])).unwrap();
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.take_stdout().unwrap().read_to_string(&mut stdout).unwrap();
    child.take_stderr().unwrap().read_to_string(&mut stderr).unwrap();
    let outcome = child.wait().unwrap().outcome;
    Ran { outcome, stdout, stderr, report: child.changes() }
}

/// Runs `sh -c LINE` as anybody would.
#[expect(clippy::disallowed_methods, reason = "what is shown here is how it is without confine")]
pub(crate) fn unconfined(directory: &Path, line: &str) -> Output {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line]).current_dir(directory).env("HOME", "/nonexistent");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_TERMINAL_PROMPT", "0").output().unwrap()
}

/// The same, and it must end well.
#[track_caller]
pub(crate) fn host(directory: &Path, line: &str) -> String {
    let output = unconfined(directory, line);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "`{line}`: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

/// A commit that needs no configuration.
pub(crate) const COMMIT: &str =
    "git -c user.name=n -c user.email=e@e commit --quiet --allow-empty -m";

/// An empty directory.
pub(crate) fn directory() -> TempDir {
    tempfile::Builder::new().prefix("protected-").tempdir().unwrap()
}

/// Makes a repository with one commit.
pub(crate) fn repository(at: &Path) {
    fs::create_dir_all(at).unwrap();
    host(at, "git init --quiet --initial-branch=main");
    fs::write(at.join("file"), "content\n").unwrap();
    host(at, &format!("git add file && {COMMIT} first"));
}

/// A confinement of defaults.
pub(crate) fn default_in(directory: &Path) -> Prepared {
    Confinement::builder(directory).prepare().unwrap()
}

/// Every path below a directory with its kind, links not followed.
pub(crate) fn listing(top: &Path) -> Vec<(PathBuf, bool, u64)> {
    let mut all = Vec::new();
    let mut waiting = vec![top.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            let data = fs::symlink_metadata(entry.path()).unwrap();
            all.push((entry.path(), data.is_dir(), if data.is_dir() { 0 } else { data.len() }));
            if data.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    all.sort();
    all
}
