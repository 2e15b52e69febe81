//! `cargo xtask ci`: the same script that guards the main branch.

use crate::{error::Error, process::Program};

/// Runs the chore.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    crate::no_arguments("ci", arguments)?;
    Program::new("bash").args([".ci/run"]).run()
}
