//! The reference package, in a process of its own.

use std::path::Path;

/// An interpreter that has it.
pub(crate) struct Reference<'a> {
    python: &'a str,
}

impl<'a> Reference<'a> {
    pub(crate) fn new(python: &'a str) -> Self {
        Self { python }
    }

    /// Seconds, and the answer.
    #[expect(clippy::disallowed_methods, reason = "a peer is measured as it is")]
    pub(crate) fn run(&self, file: &Path, task: &str) -> (f64, String) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/rlm/reference.py");
        let mut command = std::process::Command::new(self.python);
        let output = command.arg(script).arg(file).arg(task).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = text.lines().last().unwrap_or_default();
        let Some((took, answer)) = last.split_once(' ') else {
            panic!("{text}{}", String::from_utf8_lossy(&output.stderr))
        };
        (took.parse().unwrap(), answer.to_owned())
    }
}
