//! The table of attempts as the probe prints it, and what one run of an attempt said.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitStatus;

use serde_json::Value;

use crate::stage::command;
use crate::{exceptions, open};

/// One row of `probe --list`.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) needs_root: bool,
    pub(crate) judged_by_world: bool,
    is_guarded: bool,
}

impl Attempt {
    /// Whether it leaves processes that must not live on.
    pub(crate) fn leaves_processes(&self) -> bool {
        self.judged_by_world && self.about.starts_with("leaves ")
    }

    /// Whether it has a signal sent to the victim, and does not see it arrive.
    pub(crate) fn signals_later(&self) -> bool {
        self.name == "processes.owner-signal"
    }

    /// Whether it is on what the workdir protects or hides.
    pub(crate) fn wants_guards(&self) -> bool {
        self.is_guarded
    }
}

/// Asks the probe for its table.
pub(crate) fn table(probe: &Path) -> Vec<Attempt> {
    let output = command(probe).arg("--list").output().expect("the probe starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let attempts: Vec<_> = text.lines().map(row).collect();
    assert!(attempts.len() >= 100, "only {} attempts", attempts.len());
    let names: BTreeSet<_> = attempts.iter().map(|attempt| attempt.name.as_str()).collect();
    assert_eq!(names.len(), attempts.len(), "two attempts have one name");
    let listed = exceptions::names().chain(open::names());
    let unknown: Vec<_> = listed.filter(|name| !names.contains(name)).collect();
    assert!(unknown.is_empty() || !cfg!(target_arch = "x86_64"), "no such attempts: {unknown:?}");
    attempts
}

fn row(line: &str) -> Attempt {
    let row: Value = serde_json::from_str(line).expect("a row is JSON");
    let field = |name: &str| row[name].as_str().expect("a text").to_owned();
    Attempt {
        name: field("name"),
        about: field("about"),
        needs_root: field("needs") == "root",
        judged_by_world: field("judge") == "world",
        is_guarded: row["guarded"].as_bool().expect("a truth"),
    }
}

/// How one run of an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It got out.
    Reached(String),
    /// It was refused; the errno where there was one.
    Denied(Option<i32>, String),
    /// It could not be tried with what it was given.
    Untried(String),
    /// It did not live to say anything: the signal, or what was printed.
    Ended(String),
}

impl Said {
    /// Reads the exit code and the line that was printed.
    pub(crate) fn new(code: Option<i32>, ended: &str, stdout: &[u8]) -> Self {
        let line: Value = serde_json::from_slice(stdout).unwrap_or_default();
        let detail = line["detail"].as_str().unwrap_or_default().to_owned();
        let errno = line["errno"].as_i64().and_then(|errno| i32::try_from(errno).ok());
        match (code, line["outcome"].as_str()) {
            (Some(0), Some("reached")) => Self::Reached(detail),
            (Some(10), Some("denied")) => Self::Denied(errno, detail),
            (Some(20), Some("untried")) => Self::Untried(detail),
            _ => Self::Ended(format!("{ended} {}", String::from_utf8_lossy(stdout))),
        }
    }

    /// The same for a process of the standard library.
    pub(crate) fn of(status: ExitStatus, stdout: &[u8]) -> Self {
        Self::new(status.code(), &status.to_string(), stdout)
    }
}
