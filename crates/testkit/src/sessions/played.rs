//! What a script is given of a call, and what it gives back.

use std::{
    collections::BTreeMap,
    io::Write,
    sync::{Condvar, Mutex, PoisonError},
};

use rlm_backend::{Files, Language};
use serde_json::Value;

use super::files::FilesInMemory;

/// One call, as a script sees it.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The interpreter that is played.
    pub language: Language,
    /// What is to be run.
    pub code: &'a str,
    /// How many calls the driver had before.
    pub earlier: usize,
    /// The variables that the host set.
    pub variables: &'a BTreeMap<String, Value>,
    pub(super) cue: &'a Cue,
    pub(super) files: &'a FilesInMemory,
    pub(super) stdout: &'a std::io::PipeWriter,
}

impl Scene<'_> {
    /// Waits until the driver is interrupted or killed.
    pub fn wait_for_interrupt(&self) {
        self.cue.wait();
    }

    /// Writes to standard output while the call runs.
    pub fn print(&self, text: &str) {
        let mut stdout = self.stdout;
        // Where nobody listens any more, nobody misses it.
        let _ = stdout.write_all(text.as_bytes());
    }

    /// Makes a file in the session's directory.
    pub fn write_file(&self, path: &str, content: &str) {
        let _ = self.files.put(path, content.as_bytes(), true);
    }
}

/// How a call ends.
#[derive(Debug, Clone, Default)]
pub struct Played {
    /// What is printed to standard output.
    pub stdout: String,
    /// What is printed to standard error.
    pub stderr: String,
    /// The value that is shown.
    pub value: Option<String>,
    /// The exit status.
    pub exit_code: i32,
    /// The driver ends instead of reporting, with this status.
    pub dies: Option<i32>,
}

impl Played {
    /// A call that shows a value.
    pub fn value(value: impl Into<String>) -> Self {
        Self { value: Some(value.into()), ..Self::default() }
    }

    /// A call that prints a text.
    pub fn stdout(text: impl Into<String>) -> Self {
        Self { stdout: text.into(), ..Self::default() }
    }

    /// A call that fails.
    #[must_use]
    pub fn exit(exit_code: i32) -> Self {
        Self { exit_code, ..Self::default() }
    }

    /// The driver ends.
    #[must_use]
    pub fn death(status: i32) -> Self {
        Self { dies: Some(status), ..Self::default() }
    }
}

/// The interrupt of a driver.
#[derive(Debug, Default)]
pub(super) struct Cue {
    given: Mutex<bool>,
    changed: Condvar,
}

impl Cue {
    pub(super) fn give(&self) {
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Before a call: an earlier interrupt was another's.
    pub(super) fn take_back(&self) {
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }

    fn wait(&self) {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        while !*given {
            given = self.changed.wait(given).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
