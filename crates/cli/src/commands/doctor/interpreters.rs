//! Which interpreters a session finds: each is run confined, and says what it is.

use std::io;

use confine::{Capture, Command, Outcome, Prepared, SpawnError};
use serde::Serialize;

/// More than a path and a version need.
const MAX_SAID: usize = 8192;

/// A program that sessions start, the least version that they need of it, and what makes it print its
/// path and its version, a line each.
struct Wanted {
    program: &'static str,
    least: (u32, u32),
    question: &'static str,
}

const WANTED: [Wanted; 2] = [
    Wanted {
        program: "python3",
        least: (3, 9),
        question: "import sys; print(sys.executable, sys.version.split()[0], sep='\\n')",
    },
    Wanted { program: "bash", least: (5, 0), question: r#"printf '%s\n' "$BASH" "$BASH_VERSION""# },
];

/// What became of one program.
#[derive(Debug, Serialize)]
pub(super) struct Interpreter {
    program: &'static str,
    is_usable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Asks each.
pub(super) fn look(prepared: &Prepared) -> Vec<Interpreter> {
    WANTED.iter().map(|wanted| wanted.look(prepared)).collect()
}

impl Wanted {
    fn look(&self, prepared: &Prepared) -> Interpreter {
        match self.ask(prepared) {
            Ok(said) => self.judge(&said),
            Err(why) => Interpreter { why: Some(why), ..self.missing() },
        }
    }

    fn missing(&self) -> Interpreter {
        Interpreter {
            program: self.program,
            is_usable: false,
            path: None,
            version: None,
            why: None,
        }
    }

    /// What it prints.
    fn ask(&self, prepared: &Prepared) -> Result<String, String> {
        let command = Command::new(self.program).args(["-c", self.question]);
        let mut child = prepared.spawn(command).map_err(|error| match error {
            SpawnError::Program { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "not installed".to_owned()
            }
            error => error.to_string(),
        })?;
        let stdout = child.take_stdout().ok_or("it has no standard output")?;
        let said = Capture::start(stdout, MAX_SAID).map_err(|error| error.to_string())?;
        let outcome = child.wait().map_err(|error| error.to_string())?.outcome;
        let said = said.finish().map_err(|error| error.to_string())?;
        match outcome {
            Outcome::Code(0) => Ok(said.text().to_string()),
            other => Err(format!("it does not run confined: {other:?}")),
        }
    }

    fn judge(&self, said: &str) -> Interpreter {
        let mut lines = said.lines().map(str::to_owned);
        let (path, version) = (lines.next(), lines.next());
        let is_usable = version.as_deref().and_then(numbers).is_some_and(|it| it >= self.least);
        let (major, minor) = self.least;
        let why = (!is_usable).then(|| format!("sessions need {major}.{minor} or later"));
        Interpreter { is_usable, path, version, why, ..self.missing() }
    }
}

/// The first two numbers of a version.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

impl Interpreter {
    pub(super) fn program(&self) -> &'static str {
        self.program
    }

    pub(super) fn in_words(&self) -> String {
        let found = [self.version.as_deref(), self.path.as_deref()];
        let found: Vec<_> = found.into_iter().flatten().collect();
        match (&self.why, found.join(", ")) {
            (None, found) => found,
            (Some(why), found) if found.is_empty() => format!("not available: {why}"),
            (Some(why), found) => format!("{found}; not usable: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_compared_by_its_numbers() {
        let [python, bash] = &WANTED;
        assert!(python.judge("/usr/bin/python3\n3.10.0rc1\n").is_usable);
        let old = python.judge("/usr/bin/python3\n3.8.20\n");
        assert_eq!(
            old.in_words(),
            "3.8.20, /usr/bin/python3; not usable: sessions need 3.9 or later"
        );
        assert!(bash.judge("/usr/bin/bash\n5.2.37(1)-release\n").is_usable);
        assert!(!bash.judge("/usr/bin/bash\n4.4.23(1)-release\n").is_usable);
        assert!(!bash.judge("").is_usable);
    }
}
