//! The reference package, in a process of its own.

use std::path::Path;

use crate::tasks::{Took, parts};

/// An interpreter that has it.
pub(crate) struct Reference<'a> {
    python: &'a str,
}

impl<'a> Reference<'a> {
    pub(crate) fn new(python: &'a str) -> Self {
        Self { python }
    }

    /// How long a task takes it.
    #[expect(clippy::disallowed_methods, reason = "a peer is measured as it is")]
    pub(crate) fn run(&self, file: &Path, task: &str, right: &str) -> Took {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/rlm/reference.py");
        let mut command = std::process::Command::new(self.python);
        let output = command.arg(script).arg(file).arg(task).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = text.lines().last().unwrap_or_default();
        let told =
            last.split_once(' ').and_then(|(whole, rest)| Some((whole, rest.split_once(' ')?)));
        let Some((whole, (models, answer))) = told else {
            panic!("{text}{}", String::from_utf8_lossy(&output.stderr))
        };
        let (answer, code) = parts(answer);
        assert_eq!(answer, right);
        Took { whole: whole.parse().unwrap(), models: models.parse().unwrap(), code }
    }
}
