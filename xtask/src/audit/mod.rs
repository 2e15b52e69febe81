//! `cargo xtask audit`: whether this tree may be released.
//!
//! Every check is a function from what was read ([`Inputs`]) to its findings; [`CHECKS`] lists them
//! in the order of the report. Needs git, cargo and the fetched sources of the dependencies; no
//! network.

mod expected;
mod files;
mod inert;
mod licences;
mod packages;
mod sources;
mod tree;
mod words;

use crate::{
    error::Error,
    process::root,
    workspace::{Depth, Package, Workspace},
};
use tree::File;

/// A check: its name in the report, and what finds.
type Check = (&'static str, fn(&Inputs) -> Vec<String>);

const CHECKS: &[Check] = &[
    ("expected packages", packages::expected_packages),
    ("one version", packages::one_version),
    ("workspace lints", packages::workspace_lints),
    ("crate READMEs", packages::readmes),
    ("lock file is current", packages::lock_file),
    ("licences", licences::licences),
    ("root entries", files::root_entries),
    ("model artifacts", files::model_artifacts),
    ("no leftover files", files::leftover_files),
    ("file sizes", files::file_sizes),
    ("one clippy configuration", files::one_clippy_configuration),
    ("no publishing", files::no_publishing),
    ("no machine paths", files::machine_paths),
    ("file headers", sources::headers),
    ("no leftovers", sources::leftovers),
    ("silenced lints have reasons", sources::silenced_lints),
    ("every test runs", sources::ignored_tests),
    ("no shell, no eval", inert::no_shell),
];

/// What the checks judge.
#[derive(Debug, Default)]
struct Inputs {
    workspace: Workspace,
    /// What cargo said where it would change the lock file.
    lock_problem: Option<String>,
    files: Vec<File>,
}

impl Inputs {
    fn read() -> Result<Self, Error> {
        let files = tree::read()?;
        match Workspace::read(Depth::Everything) {
            Ok(workspace) => Ok(Self { workspace, lock_problem: None, files }),
            Err(error) => {
                let workspace = Workspace::read(Depth::Members)?;
                Ok(Self { workspace, lock_problem: Some(error.to_string()), files })
            }
        }
    }

    fn members(&self) -> &[Package] {
        &self.workspace.members
    }

    /// The folder of a member from the root, with a slash at its end.
    fn folder(&self, member: &Package) -> String {
        let manifest = member.manifest_path.strip_prefix(root()).unwrap_or(&member.manifest_path);
        manifest.to_string_lossy().trim_end_matches("Cargo.toml").to_owned()
    }

    /// The text of a tracked file.
    fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }
}

/// Runs the chore.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    crate::no_arguments("audit", arguments)?;
    let inputs = Inputs::read()?;
    let (report, findings) = report(CHECKS, &inputs);
    print!("{report}");
    let (packages, files) = (inputs.workspace.external.len(), inputs.files.len());
    println!("audit: {} checks on {files} files and {packages} dependencies", CHECKS.len());
    match findings {
        0 => Ok(()),
        count => Err(Error::failed(format!("audit: {count} findings"))),
    }
}

/// The report as text, and how many findings it holds.
fn report(checks: &[Check], inputs: &Inputs) -> (String, usize) {
    let (mut text, mut count) = (String::new(), 0);
    for (name, check) in checks {
        let findings = check(inputs);
        let verdict = if findings.is_empty() { "ok  " } else { "FAIL" };
        text.push_str(&format!("{verdict} {name}\n"));
        for finding in &findings {
            text.push_str(&format!("       {finding}\n"));
        }
        count += findings.len();
    }
    (text, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_lists_every_check_with_its_findings() {
        let checks: &[Check] =
            &[("good", |_| Vec::new()), ("bad", |_| vec!["one".to_owned(), "two".to_owned()])];
        let (text, count) = report(checks, &Inputs::default());
        assert_eq!(text, "ok   good\nFAIL bad\n       one\n       two\n");
        assert_eq!(count, 2);
    }

    #[test]
    fn an_empty_tree_does_not_pass() {
        let (_, count) = report(CHECKS, &Inputs::default());
        assert!(count > 0);
    }
}
