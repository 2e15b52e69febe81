//! `cargo xtask layers`: who may know whom.
//!
//! Reads the members from cargo and fails where a dependency points the wrong way or stands outside
//! its fence. The rules are data ([`rules`]); judging them is a pure function ([`judge`]).

mod judge;
mod rules;

use crate::{
    error::Error,
    workspace::{Depth, Workspace},
};

/// Runs the chore.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    crate::no_arguments("layers", arguments)?;
    let workspace = Workspace::read(Depth::Members)?;
    let violations = judge::judge(&workspace.members);
    for violation in &violations {
        println!("{violation}");
    }
    if violations.is_empty() {
        println!("layers: {} crates, every dependency in order", workspace.members.len());
        return Ok(());
    }
    Err(Error::failed(format!("layers: {} dependencies out of order", violations.len())))
}
