//! Which browser live pages find: it is run confined, and says what it is.

use browser::engine::Program;
use confine::{Capture, Command, Outcome, Prepared};
use serde::Serialize;

/// More than a version needs.
const MAX_SAID: usize = 1024;

/// The browser of live pages.
#[derive(Debug, Serialize)]
pub(super) struct Browser {
    is_usable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Looks for it, and asks it.
pub(super) fn look(prepared: &Prepared) -> Browser {
    let program = match Program::find() {
        Ok(program) => program,
        Err(error) => {
            let why = Some(error.to_string());
            return Browser { is_usable: false, path: None, version: None, why };
        }
    };
    let path = Some(program.path().display().to_string());
    match ask(&program, prepared) {
        Ok(version) => Browser { is_usable: true, path, version: Some(version), why: None },
        Err(why) => Browser { is_usable: false, path, version: None, why: Some(why) },
    }
}

/// What it calls itself.
fn ask(program: &Program, prepared: &Prepared) -> Result<String, String> {
    let command = Command::new(program.path()).arg("--version");
    let mut child = prepared.spawn(command).map_err(|error| error.to_string())?;
    let stdout = child.take_stdout().ok_or("it has no standard output")?;
    let said = Capture::start(stdout, MAX_SAID).map_err(|error| error.to_string())?;
    let outcome = child.wait().map_err(|error| error.to_string())?.outcome;
    let said = said.finish().map_err(|error| error.to_string())?.text().to_string();
    match (outcome, said.lines().next().map(str::trim)) {
        (Outcome::Code(0), Some(line)) if !line.is_empty() => Ok(line.to_owned()),
        (other, _) => Err(format!("it does not run confined: {other:?}")),
    }
}

impl Browser {
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
